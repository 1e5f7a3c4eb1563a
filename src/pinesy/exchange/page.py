"""A page in one file: rules, samples and what-if, without a server and without a network.

The page holds the rules as data (`page_data`) and a small engine (`web/engine.js`) whose degrees
are, bit for bit, those of `Cascade.infer`. Its content security policy lets nothing in but the one
script and the one style that are in it, and images that are in it too.
"""

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Any

from pinesy._version import __version__
from pinesy.engine.evidence import Evidence
from pinesy.exceptions import DataError
from pinesy.exchange.page_data import evidence_batch, rules_data, samples_data
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.rule_set import RuleSet

#: The modules of the page, each after those that it imports.
MODULES = (
    "elements.js",
    "engine.js",
    "words.js",
    "why.js",
    "outline.js",
    "tree.js",
    "bars.js",
    "inputs.js",
    "answers.js",
    "page.js",
)
#: The most bytes that a page may have: browsers open it, and mail still takes it.
MAX_BYTES = 20_000_000

TEMPLATE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="pinesy {version}">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<header><h1>{title}</h1><p id="about"></p></header>
<noscript><p class="error">This page needs JavaScript; it sends nothing anywhere.</p></noscript>
<main>
<section aria-labelledby="given">
<h2 id="given">Given</h2>
<div id="samples" hidden>
<label for="sample">Sample</label><select id="sample"></select>
<button type="button" id="before" aria-label="sample before">&#8592;</button>
<button type="button" id="after" aria-label="next sample">&#8594;</button>
<button type="button" id="again">as it was</button>
</div>
<div id="inputs"></div>
</section>
<section id="results" aria-labelledby="follows">
<h2 id="follows">What follows</h2>
<p class="quiet legend"><i class="possible"></i> possible / <i class="certain"></i> certain;
choose a value to see why</p>
<div id="outputs"></div>
<details id="between"><summary>attributes in between</summary><div id="inner"></div></details>
<h2>Why</h2>
<div id="answers"></div>
</section>
</main>
<script type="application/json" id="data">{data}</script>
<script type="module">{script}</script>
</body>
</html>
"""
_IMPORT = re.compile(r"^import\b[^;]*;\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=\w)", re.MULTILINE)


def to_page(
    rules: Cascade | RuleSet,
    evidence: Evidence | None = None,
    *,
    titles: Iterable[object] | None = None,
    images: Mapping[str, Any] | None = None,
    title: str = "Rules",
) -> str:
    """Return a page of HTML for what-if, why, why not and margin, with nothing else to load.

    Parameters
    ----------
    rules : Cascade or RuleSet
    evidence : samples to look at, as `infer` takes them
    titles : what to call the samples, by default their numbers from 1
    images : for some inputs, by name, a uint8 array (n_samples, height, width) of what is seen
    title : what to call the page

    Raises
    ------
    DataError : if the page would be too large, or images do not fit the samples

    Examples
    --------
    >>> from pinesy.problems import addition
    >>> page = to_page(addition(1), {"a_1": 3, "a_2": {4: 1.0, 9: 0.2}}, title="3 + 4")
    >>> page.startswith("<!doctype html>"), len(page) < 100_000
    (True, True)
    """
    cascade = as_cascade(rules)
    if evidence is None:
        return rules_page(cascade, (), title)
    batch = evidence_batch(cascade, evidence)
    shown = [str(one) for one in (batch.lines if titles is None else titles)]
    if len(shown) != len(batch):
        raise DataError(f"{len(shown)} titles for {len(batch)} samples; give one each")
    return rules_page(cascade, samples_data(cascade, batch, shown, images or {}), title)


def rules_page(
    cascade: Cascade,
    samples: Sequence[Mapping[str, Any]],
    title: str,
    network: bool = False,
) -> str:
    """Return the page of samples as plain data (`samples_data`).

    It says so where a `network` of the model is left out.
    """
    data = {
        "about": _about(cascade, network),
        "rules": rules_data(cascade),
        "samples": samples,
    }
    script, style = bundle(MODULES), web_text("style.css")
    policy = (
        f"default-src 'none'; script-src {content_hash(script)}; "
        f"style-src {content_hash(style)}; img-src data:; base-uri 'none'; form-action 'none'"
    )
    page = TEMPLATE.format(
        policy=policy,
        version=__version__,
        title=escape(title),
        style=style,
        data=_json(data),
        script=script,
    )
    _check_bytes(len(page.encode()), len(samples))
    return page


def _about(cascade: Cascade, network: bool) -> str:
    """Return what the page says of itself."""
    n_rules = sum(len(s.rules) for s in cascade.rule_sets)
    text = (
        f"{n_rules:,} rules on {len(cascade.inputs) + len(cascade.sets):,} attributes. All is "
        "computed in this page, by the engine in it; nothing is sent or fetched."
    )
    if network:
        text += (
            " The network of the model is not in it: inputs are set by hand, or are what was "
            "recorded of the samples."
        )
    return text


def _json(data: Any) -> str:
    """Return data as JSON that ends no script: no ``<`` is left in it."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def _check_bytes(size: int, n_samples: int) -> None:
    if size > MAX_BYTES:
        cure = "; take fewer samples (--samples) or no images" if n_samples else ""
        raise DataError(
            f"the page would have {size:,} bytes, more than the limit of {MAX_BYTES:,}{cure}"
        )


def web_text(name: str) -> str:
    """Return the text of a file in ``web``."""
    return (files("pinesy.exchange") / "web" / name).read_text(encoding="utf-8")


def bundle(modules: Sequence[str]) -> str:
    """Return modules as one, in an order in which each stands after those that it imports.

    They are put one after the other, without their imports and exports: so no two of them may
    declare one name, and none imports under another name.

    Examples
    --------
    >>> bundle(["engine.js"]).count("export")
    0
    """
    return "".join(_EXPORT.sub("", _IMPORT.sub("", web_text(name))) for name in modules)


def content_hash(text: str) -> str:
    """Return what a content security policy calls a script or style that may stand in a page.

    Examples
    --------
    >>> content_hash("")
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    """
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"

"""A page in one file: rules, samples and what-if, without a server and without a network.

The page holds the rules as data (`page_data`) and a small engine (`web/engine.js`) whose degrees
are, bit for bit, those of `Cascade.infer`. Its content security policy allows only the script, the
style and the images in the page itself.
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
from pinesy.evidence.evidence_form import Evidence
from pinesy.exceptions import DataError
from pinesy.exchange.page_data import evidence_batch, rules_data, samples_data
from pinesy.induction.points_cascade import card_of
from pinesy.rulebase.cascade import Cascade, HasRules, as_cascade
from pinesy.rulebase.rule_set import RuleSet

#: The maximum size of a page in bytes: browsers open it, and it fits into a mail.
MAX_BYTES = 20_000_000

#: The styles of the page, in their order.
STYLES = ("tokens.css", "parts.css", "ask.css", "page.css")

_IMPORT = re.compile(r"^import\b[^;]*?\"\./([^\"]+)\";\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=\w)", re.MULTILINE)


def to_page(
    rules: Cascade | RuleSet | HasRules,
    evidence: Evidence | None = None,
    *,
    titles: Iterable[object] | None = None,
    images: Mapping[str, Any] | None = None,
    title: str = "Rules",
) -> str:
    """Return a page of HTML for what-if, why, why not and margin, with nothing else to load.

    Parameters
    ----------
    rules : Cascade, RuleSet, or a fitted `pinesy.estimators.RuleClassifier`
    evidence : samples to look at, as `infer` takes them
    titles : the titles of the samples, by default their numbers from 1
    images : for some inputs, by name, a uint8 array (n_samples, height, width) of their images
    title : the title of the page

    Raises
    ------
    DataError : if the page would be too large, or images do not fit the samples

    Examples
    --------
    >>> from pinesy.problems import addition
    >>> page = to_page(addition(1), {"a_1": 3, "a_2": {4: 1.0, 9: 0.2}}, title="3 + 4")
    >>> page.startswith("<!doctype html>"), len(page) < 250_000
    (True, True)
    """
    cascade = as_cascade(rules)
    if evidence is None:
        return rules_page(cascade, (), title)
    batch = evidence_batch(cascade, evidence)
    sample_titles = [*map(str, batch.lines if titles is None else titles)]
    if len(sample_titles) != len(batch):
        raise DataError(f"{len(sample_titles)} titles for {len(batch)} samples; give one each")
    return rules_page(cascade, samples_data(cascade, batch, sample_titles, images or {}), title)


def rules_page(
    cascade: Cascade,
    samples: Sequence[Mapping[str, Any]],
    title: str,
    network: bool = False,
) -> str:
    """Return the page of rules and samples; `network`: it says that the network is not in it.

    `samples` are plain data (`samples_data`).
    """
    data = {
        "about": _about(cascade, network),
        "rules": rules_data(cascade),
        "samples": samples,
    }
    data_text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    script, style = bundle("page.js"), "".join(map(web_text, STYLES))
    policy = (
        f"default-src 'none'; script-src {content_hash(script)}; "
        f"style-src {content_hash(style)}; img-src data:; base-uri 'none'; form-action 'none'"
    )
    page = web_text("page.html").format(
        policy=policy,
        version=__version__,
        title=escape(title),
        style=style,
        data=data_text.replace("<", "\\u003c"),  # nothing in it ends the script element
        script=script,
    )
    size = len(page.encode())
    if size > MAX_BYTES:
        cure = "; take fewer samples (--samples) or no images" if samples else ""
        raise DataError(
            f"the page would have {size:,} bytes, more than the limit of {MAX_BYTES:,}{cure}"
        )
    return page


def _about(cascade: Cascade, network: bool) -> str:
    """Return the introduction of the page."""
    n_rules = sum(len(s.rules) for s in cascade.rule_sets)
    size = f"{n_rules:,} rules on {len(cascade.inputs) + len(cascade.sets):,} attributes"
    if (card := card_of(cascade)) is not None:
        size = f"This is {card.summary}"
    text = f"{size}. All is computed in this page, by the engine in it; nothing is sent or fetched."
    if network:
        text += (
            " The network of the model is not in it: inputs are set by hand, or are what was "
            "recorded of the samples."
        )
    return text


def web_text(name: str) -> str:
    """Return the text of a file in ``web``."""
    return (files("pinesy.exchange") / "web" / name).read_text(encoding="utf-8")


def bundle(module: str) -> str:
    """Return a JavaScript module and all modules that it imports as one text.

    They are concatenated, imported modules first, without their imports and exports: so no two of
    them may declare the same name, and none imports under another name.

    Examples
    --------
    >>> bundle("why.js").count("export"), bundle("why.js").count("function infer(")
    (0, 1)
    """
    texts: dict[str, str] = {}

    def visit(name: str) -> None:
        text = web_text(name)
        for imported in _IMPORT.findall(text):
            if imported not in texts:
                visit(imported)
        texts[name] = _EXPORT.sub("", _IMPORT.sub("", text))

    visit(module)
    return "".join(texts.values())


def content_hash(text: str) -> str:
    """Return the hash of a script or style for a content security policy.

    Examples
    --------
    >>> content_hash("")
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    """
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"

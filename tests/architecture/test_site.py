"""The site has every page and every public name; its pictures and formulas are what they should be.

`make docs` builds it; here nothing of Sphinx is needed.
"""

import importlib
import re
import runpy
from pathlib import Path
from typing import Any

import pytest
from extensions.citations import with_numbers
from extensions.docstring_fields import with_fields
from extensions.formula_text import is_formula, is_unicode_formula, to_latex

import pinesy
from architecture.public_modules import public_modules

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
REFERENCE = sorted((DOCS / "reference").glob("*.rst"))
_DESCRIBED = re.compile(r"^\.\. auto(module|class|function):: ([\w.]+)", re.MULTILINE)
_ENTRY = re.compile(r"^\* \[[^\]]+\]\(([\w/-]+\.(?:md|rst))\)", re.MULTILINE)


def test_the_contents_name_every_page_once() -> None:
    listed = _ENTRY.findall((DOCS / "index.md").read_text(encoding="utf-8"))
    decisions = _ENTRY.findall((DOCS / "decisions" / "index.md").read_text(encoding="utf-8"))
    listed += [f"decisions/{page}" for page in decisions]
    pages = [
        str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md") if "_build" not in page.parts
    ]
    assert sorted([*listed, "index.md"]) == sorted([*pages, "reference/index.rst"])


def test_pages_of_the_root_that_are_linked_are_on_the_site() -> None:
    """The site can show a page of the root only if it has a place there (Sphinx warns else)."""
    pages = ["README.md", *(f"docs/{page.name}" for page in DOCS.glob("*.md"))]
    pages += ["CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"]
    texts = [(DOCS.parent / page).read_text(encoding="utf-8") for page in pages]
    linked = {name for text in texts for name in re.findall(r"\]\((?:\.\./)?([A-Z]+\.md)", text)}
    shown = {f"{page.stem.upper()}.md" for page in DOCS.glob("*.md")}
    assert linked
    assert linked <= shown


def test_changelog_and_citation_have_the_version() -> None:
    log = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    unreleased, *versions = re.findall(r"^## (.+)$", log, re.MULTILINE)
    assert unreleased == "Unreleased"
    assert all(re.fullmatch(r"\d+\.\d+\.\d+ - \d{4}-\d\d-\d\d", version) for version in versions)
    version, _, date = versions[0].partition(" - ")
    assert version == pinesy.__version__
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8").splitlines()
    assert {f"version: {version}", f"date-released: {date}"} <= set(citation)


def test_the_reference_names_every_module() -> None:
    contents = (DOCS / "reference" / "index.rst").read_text(encoding="utf-8")
    listed = re.findall(r"^   (\w+)$", contents, re.MULTILINE)
    assert sorted([*listed, "index"]) == [page.stem for page in REFERENCE]


def test_the_reference_has_every_public_name() -> None:
    shown = [thing for page in REFERENCE for thing in referred(page.read_text(encoding="utf-8"))]
    modules = map(importlib.import_module, public_modules())
    public = {
        f"{module.__name__}.{name}": getattr(module, name)
        for module in modules
        for name in module.__all__
    }
    missing = [name for name, thing in public.items() if not any(thing is one for one in shown)]
    assert missing == []


def referred(page: str) -> list[Any]:
    """Return what a page of the reference describes: all of a module, or one thing."""
    found: list[Any] = []
    module = re.search(r"^\.\. currentmodule:: ([\w.]+)", page, re.MULTILINE)
    for kind, name in re.findall(
        r"^\.\. auto(module|class|function):: ([\w.]+)", page, re.MULTILINE
    ):
        if kind == "module":
            package = importlib.import_module(name)
            found += [getattr(package, public) for public in package.__all__]
        else:
            home, _, thing = (f"{module[1]}.{name}" if module else name).rpartition(".")
            found.append(getattr(importlib.import_module(home), thing))
    return found


def test_pictures_are_drawn_from_what_is_inferred() -> None:
    draw = runpy.run_path(str(DOCS / "pictures" / "method_pictures.py"))["draw"]
    kept = {
        path.stem.removeprefix("method-"): path.read_text(encoding="utf-8")
        for path in (DOCS / "pictures").glob("method-*.svg")
    }
    images = re.findall(r'href="([^"]+)"', kept["sum"])
    assert draw(images) == kept


FORMULAS = {
    "pi_i = sum_j min(p_j, p_i)": r"\pi _{i} = \sum _{j} \min (p_{j}, p_{i})",
    "nabla_i = (a_il - b_i)^+": r"\nabla _{i} = (a_{i l} - b_{i})^{+}",
    "F^down <= M box F^up": r"F^{\downarrow } \le  M \square  F^{\uparrow }",
    "pi*(u) > t": r"\pi ^{*}(u) > t",
    "Pi(at least k)": r"\Pi (\mathrm{at}\ \mathrm{least}\ k)",
    "N(A) = 1 - Pi(not A)": r"N(A) = 1 - \Pi (\neg  A)",
    "r = pi(not q | p)": r"r = \pi (\neg  q \mid  p)",
    "Lambda^(n)": r"\Lambda ^{(n)}",
}


@pytest.mark.parametrize("text", FORMULAS)
def test_formulas_of_docstrings_are_formulas(text: str) -> None:
    assert is_formula(text)
    assert to_latex(text) == FORMULAS[text]


@pytest.mark.parametrize(
    "text",
    [
        "(n_samples, |D_b|)",
        '"counts"',
        "if a in P then b in Q_1",
        "model.classes_",
        "cuts[k - 1]",
        "a_i_j",
    ],
)
def test_code_in_docstrings_is_code(text: str) -> None:
    assert not is_formula(text)


def test_pages_write_formulas_in_greek() -> None:
    assert is_unicode_formula("λ_i = π(p_i)")
    assert not is_unicode_formula("a_1")


def test_fields_of_docstrings_are_what_they_mean() -> None:
    given = "Parameters\n----\na : of |D|, such\n    as b\nc : int\n    A number.\n\n"
    given += "Attributes\n----\nd : `e`"
    made = "Parameters\n----\na\n    of \\|D\\|, such\n    as b\nc\n    int:\n    A number.\n\n"
    made += "Attributes\n----\n*   **d** -- `e`"
    assert with_fields(given.splitlines()) == made.splitlines()


def test_docstrings_cite_by_the_numbers_of_the_paper() -> None:
    assert with_numbers("M [eq:redFP, def:coFU]") == "M [equation (26), definition 10]"
    assert with_numbers("note: no:label") == "note: no:label"


def test_the_check_sees_names() -> None:
    assert referred(".. autofunction:: pinesy.equations.minmax_product\n") == [
        pinesy.minmax_product
    ]
    assert pinesy.Attribute in referred(".. automodule:: pinesy.rules\n   :members:\n")

"""Pages of the repository's root on the site, and links that lead out of this folder.

README, CHANGELOG, CONTRIBUTING and SECURITY stand in the root, where people look for them. Their
pages here say where they are; on the site they hold the text itself. Links are those of the files:
relative, so that they work in a checkout too. The lists of links of `index.md` are the contents of
the site; those of `decisions/index.md` are the entries below its own.
"""

import os
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

DOCS = Path(__file__).parents[1]
ROOT = DOCS.parent
#: Pages whose text is that of a file of the root.
MIRRORS = {
    "changelog": "CHANGELOG.md",
    "contributing": "CONTRIBUTING.md",
    "security": "SECURITY.md",
    "readme": "README.md",
}
#: Pages whose lists of links are contents.
CONTENTS = ("index", "decisions/index")
_PAGES = {ROOT / file: DOCS / f"{page}.md" for page, file in MIRRORS.items()}
_MODULES = re.compile(r"^pinesy\.(?:[a-z_]+\.)*")
_FENCE = re.compile(r"^( *)(`{3,}|~{3,}).*?^ *\2`* *$", re.MULTILINE | re.DOTALL)
_ENTRY = re.compile(r"^\* \[([^\]]+)\]\(([\w/-]+)\.(?:md|rst)\)", re.MULTILINE)
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s#]+)(#[^)\s]*)?\)")


def setup(app: Sphinx) -> dict[str, bool]:
    """Rewrite what pages say before they are parsed; resolve short names of the library."""
    app.connect("source-read", read_source)
    app.connect("missing-reference", find_name)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def read_source(app: Sphinx, docname: str, source: list[str]) -> None:
    """Put the text of the root's file in its page, and make links lead to what the site has."""
    page = Path(app.env.doc2path(docname))
    if page.suffix != ".md":
        return
    text = relocate(source[0], page, page)
    if docname in MIRRORS:
        file = ROOT / MIRRORS[docname]
        app.env.note_dependency(str(file), docname=docname)
        text = relocate(file.read_text(encoding="utf-8"), file, page)
    elif docname in CONTENTS:
        text += contents(source[0])
    source[0] = text


def contents(index: str) -> str:
    """Return a list of contents for each section of a page that is made of lists of links."""
    head, *sections = index.split("\n## ")
    parts = [("", "", head), *(section.partition("\n") for section in sections)]
    lists = [(caption, _ENTRY.findall(body)) for caption, _, body in parts]
    return "".join(_toctree(caption, entries) for caption, entries in lists if entries)


def _toctree(caption: str, entries: list[tuple[str, str]]) -> str:
    lines = "".join(f"{title} <{page}>\n" for title, page in entries)
    option = f":caption: {caption}\n" if caption else ""
    return f"\n```{{toctree}}\n{option}:hidden:\n\n{lines}```\n"


def relocate(text: str, file: Path, page: Path) -> str:
    """Return the text of a file as a page elsewhere may hold it: only its links change."""
    fences = [(m.start(), m.end()) for m in _FENCE.finditer(text)]

    def moved(match: re.Match[str]) -> str:
        if any(begin <= match.start() < end for begin, end in fences):
            return match[0]
        return _moved_link(match, file, page)

    return _LINK.sub(moved, text)


def _moved_link(match: re.Match[str], file: Path, page: Path) -> str:
    bang, label, target, anchor = match.groups()
    if "://" in target or target.startswith("mailto:"):
        return match[0]
    place = Path(os.path.normpath(file.parent / target))
    if place.is_dir():  # the site has no page for a folder
        return str(label)
    if place.parent == ROOT / "examples":
        place, anchor = DOCS / "examples.md", f"#{slug(place.name)}"
    place = _PAGES.get(place, place)
    return f"{bang}[{label}]({os.path.relpath(place, page.parent)}{anchor or ''})"


def slug(heading: str) -> str:
    """Return the anchor of a heading, as GitHub and MyST make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def find_name(app: Sphinx, env: Any, node: Any, contents: nodes.Node) -> nodes.Node | None:
    """Find a name whatever its module: `Cascade`, or `Possibility.certainty`."""
    if node.get("refdomain") != "py":
        return None
    objects = env.get_domain("py").objects
    wanted = "." + _MODULES.sub("", node["reftarget"])
    found = [name for name in objects if name.endswith(wanted) and _is_known(objects[name], wanted)]
    if len(found) != 1:
        return None
    entry = objects[found[0]]
    uri = app.builder.get_relative_uri(node["refdoc"], entry.docname)
    return nodes.reference("", "", contents, internal=True, refuri=f"{uri}#{entry.node_id}")


def _is_known(entry: Any, wanted: str) -> bool:
    """Tell whether a name is meant: members only as ``Class.member``, for there are many alike."""
    return wanted.count(".") > 1 or entry.objtype in {"class", "exception", "function"}

"""Formulas as MathML, which browsers draw by themselves: no script, and nothing to load.

Sphinx's own ways need a script from the network or an installation of LaTeX.
"""

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx

from extensions.formula_text import is_formula, is_unicode_formula, to_latex


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer, and read the formulas of docstrings."""
    app.add_html_math_renderer("mathml", (draw_inline, None), (draw_block, None))
    app.connect("doctree-read", read_formulas)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def draw_inline(translator: Any, node: nodes.math) -> None:
    """Write a formula within a line."""
    translator.body.append(convert(node.astext()))
    raise nodes.SkipNode


def draw_block(translator: Any, node: nodes.math_block) -> None:
    """Write a formula that stands alone."""
    mathml = convert(node.astext(), display="block")
    translator.body.append(f'<div class="formula">{mathml}</div>')
    raise nodes.SkipNode


def read_formulas(app: Sphinx, tree: nodes.document) -> None:
    """Turn the literals of a page that are formulas into formulas."""
    docstrings = app.env.docname.startswith("reference/")
    wanted = is_formula if docstrings else is_unicode_formula
    for literal in list(tree.findall(nodes.literal)):
        plain = not set(literal["classes"]) & {"xref", "code"}
        if plain and wanted(literal.astext()) and not _in_title(literal):
            text = " ".join(literal.astext().split())
            literal.replace_self(nodes.math(text, to_latex(text)))


def _in_title(node: nodes.Node) -> bool:
    return isinstance(node.parent, nodes.title)

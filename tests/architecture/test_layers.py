"""A folder is a layer, and a module imports only from the layers below its own."""

import ast
from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter

import pytest

from architecture.layers import ROWS, SOURCE, imports, package_of, read_sources

LAYERS = {name: layer for layer, row in enumerate(ROWS) for name in row}
#: Imports for types alone that close a cycle today, by the module that has them.
TYPE_CYCLES = {
    "pinesy.rules.propositions": "pinesy.rules.attributes",
}


def violations(sources: Mapping[str, str]) -> list[str]:
    """Return what is wrong with the imports of the given modules, one line for each."""
    names = set(sources)
    graph = {n: sorted(set(imports(n, text, names))) for n, text in sources.items()}
    wrong = [f"{name} is in no layer" for name in graph if package_of(name) not in LAYERS]
    try:
        TopologicalSorter(
            {n: [m for m in used if TYPE_CYCLES.get(n) != m] for n, used in graph.items()}
        ).prepare()
    except CycleError as error:
        wrong.append(f"cycle: {' -> '.join(error.args[1])}")
    for name, imported in graph.items():
        for module in imported:
            if module not in names:
                wrong.append(f"{name} imports {module}, which does not exist")
            elif package_of(module) != package_of(name) and layer(module) >= layer(name):
                wrong.append(f"{name} imports {module}, which is not in a lower layer")
    return wrong


def layer(name: str) -> int:
    """Return the number of the row of a module; one that is in no row is above all."""
    return LAYERS.get(package_of(name), len(ROWS))


def test_every_import_goes_down() -> None:
    assert violations(read_sources()) == []


def test_every_row_is_a_package() -> None:
    assert set(LAYERS) == {package_of(name) for name in read_sources()}


UPWARD = [
    ("exceptions", "from pinesy.rulebase.cascade import Cascade", "pinesy.rulebase.cascade"),
    ("rules.rule", "def f():\n    import pinesy.rulebase.check", "pinesy.rulebase.check"),
    ("rules.partition", "from pinesy import Cascade", "pinesy.__init__"),
    ("engine.rule_set_kinds", "from ..rulebase import check", "pinesy.rulebase.check"),
    ("rules.__init__", "import pinesy.rulebase.check", "pinesy.rulebase.check"),
    ("equations.product", "from pinesy.rules import Rule", "pinesy.rules.__init__"),
    ("equations.product", "from pinesy.transforms import inverse", "pinesy.transforms.__init__"),
    ("learning.__init__", "try:\n    import pinesy.cli.app\nexcept E: ...", "pinesy.cli.app"),
]


@pytest.mark.parametrize(
    ("module", "line", "imported"), UPWARD, ids=[line for _, line, _ in UPWARD]
)
def test_the_check_sees_a_wrong_import(module: str, line: str, imported: str) -> None:
    sources = read_sources()
    sources[f"pinesy.{module}"] += f"\n{line}\n"
    complaint = f"pinesy.{module} imports {imported}, which is not in a lower layer"
    assert complaint in violations(sources)


def test_the_check_sees_a_cycle_within_a_package() -> None:
    sources = read_sources()
    sources["pinesy.equations.product"] += "\nfrom pinesy.equations import minmax_product\n"
    assert any(line.startswith("cycle: ") for line in violations(sources))


def test_the_check_sees_modules_that_are_new_or_gone() -> None:
    sources = read_sources()
    sources["pinesy.extra"] = "import pinesy.gone"
    complaints = violations(sources)
    assert "pinesy.extra is in no layer" in complaints
    assert "pinesy.extra imports pinesy.gone, which does not exist" in complaints


def test_the_check_sees_imports_for_types_alone() -> None:
    sources = read_sources()
    imported = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import pinesy."
    sources["pinesy.exceptions"] += f"\n{imported}rulebase.check\n"
    sources["pinesy.equations.product"] += f"\n{imported}equations.systems\n"
    complaints = violations(sources)
    upward = "pinesy.exceptions imports pinesy.rulebase.check, which is not in a lower layer"
    assert upward in complaints
    assert any(line.startswith("cycle: ") for line in complaints)


def test_display_is_imported_when_a_method_is_called_and_not_before() -> None:
    sources = read_sources()
    line = "from pinesy.display.markup import tag"
    method = f"class C:\n    def _repr_html_(self):\n        {line}\n        return tag('p')\n"
    sources["pinesy.rules.rule"] += f"\n{method}"
    assert violations(sources) == []
    sources["pinesy.rules.rule"] += f"\n{line}\n"
    complaint = "pinesy.rules.rule imports pinesy.display.markup, which is not in a lower layer"
    assert violations(sources) == [complaint]


def test_html_and_plots_are_written_by_display() -> None:
    """The page in one file is an export format, and writes its own HTML."""
    assert {package_of(name) for name in importing("matplotlib")} == {"display"}
    assert {package_of(name) for name in importing("html")} == {"display", "exchange"}


def test_pytorch_is_imported_by_networks_alone() -> None:
    assert {package_of(name) for name in importing("torch")} == {"nets"}


def test_the_library_does_not_know_its_reproduction() -> None:
    """`reproduction` imports pinesy, never the other way round: it is not in the wheel."""
    assert (SOURCE.parents[1] / "reproduction" / "__main__.py").exists()
    assert importing("reproduction") == []
    assert roots("def f():\n    from reproduction.store import Store") == {"reproduction"}


def importing(package: str) -> list[str]:
    """Return the modules that import from a package."""
    sources = read_sources().items()
    return [name for name, text in sources if package in text and package in roots(text)]


def roots(text: str) -> set[str]:
    """Return the packages that a module imports from, wherever it does."""
    nodes = list(ast.walk(ast.parse(text)))
    origins = [n.module or "" for n in nodes if isinstance(n, ast.ImportFrom)]
    origins += [a.name for n in nodes if isinstance(n, ast.Import) for a in n.names]
    return {origin.split(".")[0] for origin in origins}

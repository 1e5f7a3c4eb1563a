"""A folder is a layer, and a module imports only from the layers below its own."""

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "pinesy"

#: From the ground up, one row for each folder. A module imports from the rows before its own and,
#: without cycles, from its own folder.
ROWS = [
    ["exceptions", "_version"],
    ["_common"],
    ["transforms", "equations"],
    ["rules"],
    ["evidence"],
    ["engine"],
    ["semantics"],
    ["rulebase"],
    ["samples"],
    ["induction"],
    ["learning"],
    ["inverse"],
    ["explanations"],
    ["calibration"],
    ["concepts"],
    ["nets"],
    ["model"],
    ["problems"],
    ["estimators"],
    ["exchange"],
    ["__init__"],
    ["studio"],
    ["cli"],
    ["__main__"],
]
LAYERS = {name: layer for layer, row in enumerate(ROWS) for name in row}


def read_sources() -> dict[str, str]:
    """Return the text of every module by its dotted name; packages end in ``.__init__``.

    The front door imports when it is asked; what, its stub says.
    """
    texts = {
        ".".join(["pinesy", *path.relative_to(SOURCE).with_suffix("").parts]): path.read_text()
        for path in sorted(SOURCE.rglob("*.py"))
    }
    return texts | {"pinesy.__init__": (SOURCE / "__init__.pyi").read_text()}


def room(name: str) -> str:
    """Return the folder, or the module of the root, that a dotted name belongs to."""
    return name.split(".")[1]


def imports(name: str, text: str, names: set[str]) -> Iterator[str]:
    """Yield the modules of pinesy that a module imports at run time, wherever it does."""
    package = name.rpartition(".")[0].split(".")
    for node in _import_statements(text):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            origin = ".".join([*base, *filter(None, [node.module])])
            # `from package import module` imports the module, not only the package
            inner = [f"{origin}.{alias.name}" for alias in node.names]
            modules = [i if i in names or f"{i}.__init__" in names else origin for i in inner]
        else:
            continue
        for module in modules:
            if module.split(".")[0] == "pinesy":
                yield f"{module}.__init__" if f"{module}.__init__" in names else module


@cache  # most tests change one module of them all
def _import_statements(text: str) -> list[ast.AST]:
    walk = _executed if "TYPE_CHECKING" in text else ast.walk
    nodes = walk(ast.parse(text))
    return [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]


def _executed(node: ast.AST) -> Iterator[ast.AST]:
    """Walk a tree, without what stands under ``if TYPE_CHECKING:``."""
    yield node
    skipped = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
    children = node.orelse if isinstance(node, ast.If) and skipped else ast.iter_child_nodes(node)
    for child in children:
        yield from _executed(child)


def violations(sources: Mapping[str, str]) -> list[str]:
    """Return what is wrong with the imports of the given modules, one line for each."""
    names = set(sources)
    graph = {n: sorted(set(imports(n, text, names))) for n, text in sources.items()}
    wrong = [f"{name} is in no layer" for name in graph if room(name) not in LAYERS]
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        wrong.append(f"cycle: {' -> '.join(error.args[1])}")
    for name, imported in graph.items():
        for module in imported:
            if module not in names:
                wrong.append(f"{name} imports {module}, which does not exist")
            elif room(module) != room(name) and layer(module) >= layer(name):
                wrong.append(f"{name} imports {module}, which is not in a lower layer")
    return wrong


def layer(name: str) -> int:
    """Return the number of the row of a module; one that is in no row is above all."""
    return LAYERS.get(room(name), len(ROWS))


def test_every_import_goes_down() -> None:
    assert violations(read_sources()) == []


def test_every_row_is_a_room() -> None:
    assert set(LAYERS) == {room(name) for name in read_sources()}


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


def test_imports_for_types_alone_do_not_count() -> None:
    sources = read_sources()
    before = violations(sources)
    sources["pinesy.exceptions"] += (
        "\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import pinesy.rulebase.check\n"
    )
    assert violations(sources) == before


def test_pytorch_is_imported_by_networks_alone() -> None:
    assert {room(name) for name in importing("torch")} == {"nets"}


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

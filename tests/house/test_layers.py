"""A module imports only from lower layers; the imports are read, not executed."""

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "pinesy"

#: From the ground up. A module imports from the rows before its own, not from its own row; a
#: package named here is all in one row, and its modules may not form a cycle. The ``__init__`` of
#: any other package sits with the highest that it imports.
ROWS = [
    ["exceptions", "_version"],
    ["_validation", "_files", "_jit", "_kept", "_notice", "_threads"],
    ["_png", "_progress", "_directory"],
    ["transforms", "minmax", "rules.lexer", "datasets", "nn"],
    ["rules.reader", "rules.writing"],
    ["rules.conditions"],
    ["rules.attribute"],
    ["rules.rule", "possibility", "partition", "_sample_layout"],
    ["relation", "engine.circuit", "engine.evidence", "_sample_header", "_sample_batches"],
    ["engine.kind", "equations", "targets", "_sample_formats", "_parquet"],
    ["engine.template", "engine.code", "_pieces"],
    ["engine.demands", "engine.kernels", "perception"],
    ["engine.linker", "engine.run"],
    ["engine.program"],
    ["inference"],
    ["rule_set"],
    ["check"],
    ["cascade"],
    ["text"],
    ["io"],
    ["backpropagation", "beliefs", "explanations", "samples", "problems", "learning"],
    ["changes", "gradients", "_fitting", "_saved_model"],
    ["neurosymbolic", "experiments"],
    ["cli"],
    ["__main__"],
]
LAYERS = {f"pinesy.{name}": layer for layer, row in enumerate(ROWS) for name in row}


def read_sources() -> dict[str, str]:
    """Return the text of every module by its dotted name; packages end in ``.__init__``."""
    return {
        ".".join(["pinesy", *path.relative_to(SOURCE).with_suffix("").parts]): path.read_text()
        for path in sorted(SOURCE.rglob("*.py"))
    }


def imports(name: str, text: str, names: set[str]) -> Iterator[str]:
    """Yield the modules of pinesy that a module imports at run time, wherever it does."""
    package = name.rpartition(".")[0]
    for node in _executed(ast.parse(text)):
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1]
            origin = ".".join([*(base if node.level else []), *filter(None, [node.module])])
            # `from package import module` imports the module, not only the package
            inner = [f"{origin}.{alias.name}" for alias in node.names]
            found = [i if i in names or f"{i}.__init__" in names else origin for i in inner]
        else:
            continue
        for module in found:
            if module.split(".")[0] == "pinesy":
                yield f"{module}.__init__" if f"{module}.__init__" in names else module


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
    unknown = {name for name in graph if not _is_init(name) and _entry(name) is None}
    found = [f"{name} is in no layer" for name in sorted(unknown)]
    layers: dict[str, int] = {}
    for name in _dependencies_first(graph, found):
        highest = max((layers.get(m, 0) for m in graph[name]), default=0)
        layers[name] = LAYERS.get(_entry(name) or "", highest)
    for name, imported in graph.items():
        gone = [m for m in imported if m not in names]
        found += [f"{name} imports {module}, which does not exist" for module in gone]
        wrong = [m for m in imported if m in names and layers[m] >= layers[name]]
        found += [
            f"{name} imports {module}, which is not in a lower layer"
            for module in wrong
            if name not in unknown and not _within_one_package(name, module)
        ]
    return found


def _dependencies_first(graph: Mapping[str, list[str]], found: list[str]) -> list[str]:
    try:
        order = list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        found.append(f"cycle: {' -> '.join(error.args[1])}")
        order = sorted(graph, key=_is_init)
    return [name for name in order if name in graph]


def _is_init(name: str) -> bool:
    return name.endswith(".__init__")


def _entry(name: str) -> str | None:
    """Return the line of the table that a module belongs to: its own, or its package's."""
    parents = [name.rsplit(".", i)[0] for i in range(name.count("."))]
    return next((p for p in parents if p in LAYERS), None)


def _within_one_package(name: str, module: str) -> bool:
    """A package's ``__init__`` gathers its own members; some packages are one layer."""
    gathers = _is_init(name) and module.startswith(name.removesuffix("__init__"))
    return gathers or (_entry(name) is not None and _entry(name) == _entry(module))


def test_every_import_goes_down() -> None:
    assert violations(read_sources()) == []


def test_the_table_names_no_module_that_is_gone() -> None:
    sources = read_sources()
    assert [n for n in LAYERS if n not in sources and f"{n}.__init__" not in sources] == []


UPWARD = [
    ("exceptions", "from pinesy.cascade import Cascade", "pinesy.cascade"),
    ("rules.rule", "def f():\n    import pinesy.text", "pinesy.text"),
    ("partition", "from pinesy import Cascade", "pinesy.__init__"),
    ("engine.kind", "from . import run", "pinesy.engine.run"),
    ("engine.kind", "from ..text import parse", "pinesy.text"),
    ("engine.kind", "from pinesy.engine import run as r", "pinesy.engine.run"),
    ("possibility", "import pinesy.partition", "pinesy.partition"),
    ("rules.__init__", "import pinesy.io", "pinesy.io"),
    ("minmax.product", "from pinesy.text import parse", "pinesy.text"),
    ("io", "try:\n    import pinesy.cli.app\nexcept ImportError: ...", "pinesy.cli.app"),
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
    sources["pinesy.minmax.product"] += "\nfrom pinesy.minmax import minmax_product\n"
    assert any(found.startswith("cycle: ") for found in violations(sources))


def test_the_check_sees_modules_that_are_new_or_gone() -> None:
    sources = read_sources()
    sources["pinesy.rules.extra"] = "import pinesy.gone"
    found = violations(sources)
    assert "pinesy.rules.extra is in no layer" in found
    assert "pinesy.rules.extra imports pinesy.gone, which does not exist" in found


def test_imports_for_types_alone_do_not_count() -> None:
    sources = read_sources()
    before = violations(sources)
    sources["pinesy.exceptions"] += (
        "\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import pinesy.io\n"
    )
    assert violations(sources) == before

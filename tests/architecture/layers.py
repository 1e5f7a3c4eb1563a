"""The packages of the library in rows, and what they import."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

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
    ["exact"],
    ["rulebase"],
    ["relations"],
    ["samples"],
    ["induction"],
    ["learning"],
    ["inverse"],
    ["explanations"],
    ["verdicts"],
    ["calibration"],
    ["guarantees"],
    ["concepts"],
    ["nets"],
    ["model"],
    ["problems"],
    ["estimators"],
    ["emitters"],
    ["exchange"],
    ["display"],
    ["__init__"],
    ["serve"],
    ["studio"],
    ["cli"],
    ["__main__"],
]


def read_sources() -> dict[str, str]:
    """Return the text of every module by its dotted name; packages end in ``.__init__``.

    The root imports lazily; its stub names the imports.
    """
    texts = {
        ".".join(["pinesy", *path.relative_to(SOURCE).with_suffix("").parts]): path.read_text()
        for path in sorted(SOURCE.rglob("*.py"))
    }
    return texts | {"pinesy.__init__": (SOURCE / "__init__.pyi").read_text()}


def package_of(name: str) -> str:
    """Return the folder, or the module of the root, that a dotted name belongs to."""
    return name.split(".")[1]


def imports(name: str, text: str, names: set[str]) -> Iterator[str]:
    """Yield the modules of pinesy that a module imports, wherever it does, for types as well.

    Methods that show something import `pinesy.display` when they are called: that does not count.
    """
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
    tree = ast.parse(text)
    when_called = {
        node
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef) and "pinesy.display" in text
        for node in ast.walk(function)
        if isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith("pinesy.display.")
    }
    nodes = (node for node in ast.walk(tree) if node not in when_called)
    return [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]

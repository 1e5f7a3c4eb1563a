"""What a module offers is listed, sorted, importable and explained."""

import ast
import importlib
import inspect
import pkgutil
from pathlib import Path
from types import ModuleType

import pytest

import pinesy
from architecture.public_modules import public_modules


def all_modules() -> list[str]:
    found = pkgutil.walk_packages(pinesy.__path__, "pinesy.")
    return ["pinesy", *(m.name for m in found if m.name != "pinesy.__main__")]


MODULES = all_modules()


def undocumented(module: ModuleType) -> list[str]:
    """Return the public names, and public members of public classes, that say nothing."""
    found = []
    for name in module.__all__:
        thing = getattr(module, name)
        if not inspect.isclass(thing) and not inspect.isfunction(thing):
            continue
        if not _speaks(thing):
            found.append(name)
        if inspect.isclass(thing):
            own = {k: v for k, v in vars(thing).items() if not k.startswith("_")}
            found += [f"{name}.{k}" for k, v in own.items() if _is_member(v) and not _speaks(v)]
    return found


def _speaks(thing: object) -> bool:
    """Tell whether there is a docstring that was written (dataclasses make one up)."""
    doc = getattr(thing, "__doc__", None) or ""
    made_up = inspect.isclass(thing) and doc.startswith(f"{thing.__name__}(")
    return bool(doc.strip()) and not made_up


def _is_member(thing: object) -> bool:
    kinds = (property, classmethod, staticmethod)
    return inspect.isfunction(thing) or isinstance(thing, kinds) or hasattr(thing, "attrname")


@pytest.mark.parametrize("name", MODULES)
def test_every_module_has_a_docstring(name: str) -> None:
    assert (importlib.import_module(name).__doc__ or "").strip()


@pytest.mark.parametrize("name", public_modules())
def test_every_public_module_lists_its_names(name: str) -> None:
    assert hasattr(importlib.import_module(name), "__all__")


@pytest.mark.parametrize("name", MODULES)
def test_listed_names_are_sorted_importable_and_explained(name: str) -> None:
    module = importlib.import_module(name)
    names = list(getattr(module, "__all__", []))
    assert len(set(names)) == len(names)
    assert names == isort_order(names)
    assert [n for n in names if not hasattr(module, n)] == []
    if names:
        assert undocumented(module) == []


def isort_order(names: list[str]) -> list[str]:
    """Constants, then classes, then the rest, each in order: what the linter asks for."""
    return sorted(names, key=lambda n: (not n.isupper() or len(n) < 2, not n[0].isupper(), n))


@pytest.mark.parametrize("name", pinesy.__all__)
def test_public_classes_and_functions_live_in_pinesy(name: str) -> None:
    thing = getattr(pinesy, name)
    assert thing.__module__.startswith("pinesy.")
    assert _speaks(thing)


def test_type_checkers_are_told_of_the_same_names_in_the_same_modules() -> None:
    stub = ast.parse(Path(pinesy.__file__).with_suffix(".pyi").read_text())
    imported = {
        alias.name: node.module
        for node in stub.body
        if isinstance(node, ast.ImportFrom) and node.module != "pinesy._version"
        for alias in node.names
    }
    homes = {name: module for module, names in pinesy._NAMES.items() for name in names.split()}  # type: ignore[attr-defined]
    assert imported == homes
    (listed,) = (node.value for node in stub.body if isinstance(node, ast.Assign))
    assert ast.literal_eval(listed) == pinesy.__all__


def test_public_names_can_be_imported_in_every_way() -> None:
    names: dict[str, object] = {}
    exec("from pinesy import *", names)
    assert set(pinesy.__all__) < set(names)
    assert set(pinesy.__all__) < set(dir(pinesy))
    assert pinesy.learning.learn is pinesy.learn
    with pytest.raises(AttributeError, match="no attribute 'learning_rate'"):
        pinesy.learning_rate  # type: ignore[attr-defined]  # noqa: B018


def test_the_version_is_a_version() -> None:
    assert [part.isdecimal() for part in pinesy.__version__.split(".")] == [True] * 3


def test_the_check_sees_what_is_not_explained() -> None:
    module = ModuleType("sample")

    class Silent:
        def speak(self) -> None: ...

    class Explained:
        """Explained."""

        @property
        def mute(self) -> int:
            return 0

    vars(module).update(Silent=Silent, Explained=Explained, __all__=["Explained", "Silent"])
    assert undocumented(module) == ["Explained.mute", "Silent", "Silent.speak"]

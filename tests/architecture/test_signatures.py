"""One word for one thing: public functions call their arguments alike, in one order."""

import importlib
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from architecture.public_modules import public_modules

pytest.importorskip("torch")

ORDER = ["rules", "evidence", "targets"]
#: What an argument must not be called, and what it is called instead.
OTHER_WORDS = {"cascade": "rules", "rule_set": "rules", "threshold": "tolerance", "X": "samples"}
#: `equations` knows no rules; errors name the set they are about; classifiers have the words of
#: scikit-learn.
FOREIGN = ("pinesy.equations", "pinesy.exceptions", "pinesy.estimators")


def public_functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the public functions, constructors and methods, by what a user would call them."""
    for module_name in public_modules():
        if module_name in FOREIGN:
            continue
        module = importlib.import_module(module_name)
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isclass(thing) and not issubclass(thing, Exception):
                for method, function in inspect.getmembers(thing, inspect.isfunction):
                    if not method.startswith("_") and function.__module__.startswith("pinesy."):
                        yield f"{name}.{method}", function
            elif inspect.isfunction(thing):
                yield name, thing


FUNCTIONS = dict(public_functions())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_arguments_have_their_names_and_their_order(name: str) -> None:
    parameters = list(inspect.signature(FUNCTIONS[name]).parameters)
    assert {p: OTHER_WORDS[p] for p in parameters if p in OTHER_WORDS} == {}
    ordered = [p for p in parameters if p in ORDER]
    assert ordered == [p for p in ORDER if p in ordered]


def test_rules_come_first() -> None:
    late = [
        name
        for name, function in FUNCTIONS.items()
        if "rules"
        in (parameters := [p for p in inspect.signature(function).parameters if p != "self"])
        and parameters.index("rules") != 0
    ]
    assert late == []

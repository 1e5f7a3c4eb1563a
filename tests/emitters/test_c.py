"""A C compiler gives the bits of `infer` from the files of `to_c`."""

import ctypes
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from emitters.c_library import COMPILER, CLibrary, needs_compiler
from emitters.raw_samples import EXAMPLES, SCRIPTS, raw_inputs, script_rules
from pinesy import Attribute, Cascade, CascadeError, DomainError, If, RuleSet, parse, to_c
from pinesy.problems import addition, sudoku
from strategies import BatchCase, batches, random_batch

pytestmark = needs_compiler


@settings(max_examples=6)
@given(case=batches(sizes=(1, 64, 130)))
def test_degrees_have_the_same_bits(case: BatchCase) -> None:
    library = CLibrary(case.cascade)
    rows = np.concatenate([case.evidence[a.name] for a in library.program.inputs], axis=1)
    count, out = library.infer("degrees", rows)
    assert count == case.n
    library.check(out, case.cascade.infer(case.evidence))


def check_values(cascade: Cascade, level: str = "-O2") -> None:
    library = CLibrary(cascade, level=level)
    numbers, evidence = raw_inputs(cascade, 70)
    count, out = library.infer("values", np.stack([*numbers.values()], axis=1))
    assert count == 70
    library.check(out, cascade.infer(evidence))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_from_values(path: Path) -> None:
    check_values(parse(path.read_text()))


@pytest.mark.parametrize("name", SCRIPTS)
def test_rules_of_example_scripts(name: str) -> None:
    check_values(script_rules(name), "-O1")  # compiles large ones in a third of the time


def test_the_example_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).parents[2] / "docs" / "sql-and-c.md").read_text()
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(block, names)
    (program,) = re.findall(r"```c\n(.*?)```", page, re.DOTALL)
    Path("main.c").write_text(program)
    assert COMPILER is not None
    options = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    subprocess.run([COMPILER, *options, "-o", "main", "main.c", "price.c"], check=True)
    assert subprocess.check_output(["./main"], text=True) == "none\n"


@pytest.mark.parametrize("blur", [0.1, 1 / 3, 1e-300, 1e300])
def test_cuts_and_blur(blur: float) -> None:
    x, b = Attribute.number("x", [0.1, "<=0.7", 3], blur=blur), Attribute("b", range(4))
    pairs = enumerate(x.domain)
    check_values(
        Cascade(RuleSet([If(x.isin({v})).then(b.isin({i}), 0.1, 1 / 3) for i, v in pairs]))
    )


@pytest.mark.parametrize("rules", [addition(2), sudoku(4)], ids=["addition", "sudoku"])
def test_programs_of_several_loops(rules: Cascade) -> None:
    library, rng = CLibrary(rules), np.random.default_rng(2)
    rows = np.hstack([random_batch(rng, 70, len(a.domain)) for a in library.program.inputs])
    library.check(library.infer("degrees", rows)[1], library.program.infer(rows))


def test_invalid_samples_are_named() -> None:
    rules = parse("attribute a in {x, y} attribute b in {0, 1} if a in {x} then b in {0}")
    library = CLibrary(rules)
    for bad in ([0.5, 0.5], [1.5, 1.0], [np.nan, 1.0], [-0.5, 1.0], [1.0, np.inf], [1.0, -np.inf]):
        rows = np.array([[1.0, -0.0]] * 67 + [bad])
        assert library.infer("degrees", rows)[0] == 67
    for code in (2.0, -1.0, 0.5, np.inf, -np.inf):
        assert library.infer("values", np.array([[0.0], [code]]))[0] == 1


def test_hostile_names_are_only_texts() -> None:
    texts = ['"; int x; //', "*/", "??/", "%s\\", "日本", "\n", "a" * 300, "int"]
    name = '*/ "x" ??/ \\'
    a, b = Attribute(name, texts), Attribute("BLOCK", texts)
    rules = RuleSet([If(a.isin({text})).then(b.isin({text}), 0.0, 0.25) for text in texts])
    library = CLibrary(rules)
    names = (ctypes.c_char_p * 2).in_dll(library.library, "rules_input_names")
    assert names[0] == name.encode()
    tables = (ctypes.POINTER(ctypes.c_char_p) * 2).in_dll(library.library, "rules_output_values")
    assert [tables[0][i] for i in range(len(texts))] == [text.encode() for text in texts]


@pytest.mark.parametrize("name", ["", "1a", "a b", "int", "é", None, "a;"])
def test_bad_names(name: Any) -> None:
    with pytest.raises(DomainError, match="name"):
        to_c(parse("attribute a in {x, y} attribute b in {0, 1} if a in {x} then b in {0}"), name)


@pytest.mark.parametrize("name", ["NAME", "ENUM", "UPPER_x", "SIZES", "BLOCK", "input", "w"])
def test_names_that_the_file_uses_itself(name: str) -> None:
    rules = parse("attribute a in {x, y} attribute b in {0, 1} if a in {x} then b in {0}")
    library = CLibrary(rules, name)
    rows = np.array([[1.0, 0.0], [1.0, 1.0]])
    library.check(library.infer("degrees", rows)[1], library.program.infer(rows))


def test_rules_that_have_no_file() -> None:
    with pytest.raises(CascadeError, match=r"ground\(graph, atom\)"):
        to_c(parse("relation p(x, x) if p(X, Y) then q(Y, X)"))
    b = Attribute("b", ["x\x00", "y"])
    with pytest.raises(DomainError, match="NUL"):
        to_c(RuleSet([If(Attribute("a", [0, 1]).isin({0})).then(b.isin({"y"}))]))

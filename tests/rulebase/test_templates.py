"""Templates in text: indices, variables, loops, sets by comprehension, macros, included files."""

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counted_work import calls
from messages import raises_saying
from pinesy import Attribute, Cascade, DataError, RulesTextError, load, parse

HEAD = "attribute a[1..4] in 0..9 attribute b in {red, green, 3} attribute c in {0, 1}\n"


def rules(text: str, head: str = HEAD) -> list[str]:
    """Return the rules that a text writes out, as they print, without their first word."""
    return [str(rule).split(" ", 1)[1] for s in parse(head + text).rule_sets for rule in s.rules]


# --- what is written out -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("if a[1] == 3 then c == 1", ["a_1 in {3} then c in {1}"]),
        ("if a[1 + 1] != 3 then c in {1}", ["a_2 in {0..2, 4..9} then c in {1}"]),
        ("if a[1] < 2 then c <= 0", ["a_1 in {0, 1} then c in {0}"]),
        ("if a[1] >= 8.5 then c > 0", ["a_1 in {9} then c in {1}"]),
        ("if a[1] in 2..4 then c in {1}", ["a_1 in {2..4} then c in {1}"]),
        ("if b == green then c == 1", ["b in {green} then c in {1}"]),
        ("if b != 3 then c == 1", ["b in {red, green} then c in {1}"]),
        (
            "for i in 1..2: if a[i] in {i, i + 5} then c in {1}",
            ["a_1 in {1, 6} then c in {1}", "a_2 in {2, 7} then c in {1}"],
        ),
        (
            "for i in 1..2 { if a[i] == 1 then c == 1 if a[i + 1] == 2 then c == 0 }",
            ["a_1 in {1} then c in {1}", "a_2 in {2} then c in {0}"]
            + ["a_2 in {1} then c in {1}", "a_3 in {2} then c in {0}"],
        ),
        (
            "for x in {red, green}: if b in {x} then c == 1",
            ["b in {red} then c in {1}", "b in {green} then c in {1}"],
        ),
        (
            "let k = 3 for i in 1..k, j in i + 1..k where i + j != 4: if a[i] == j then c == 1",
            ["a_1 in {2} then c in {1}", "a_2 in {3} then c in {1}"],
        ),
        (
            "for i in 1..2: for j in 3..4: when i + j == 5: if a[i] == j then c == 1",
            ["a_1 in {4} then c in {1}", "a_2 in {3} then c in {1}"],
        ),
        (
            "for i in 1..0: if a[i] == 1 then c == 1 for i in 4..4: if a[i] == 1 then c == 1",
            ["a_4 in {1} then c in {1}"],
        ),
        (
            "if a[1] in {2 * i for i in 0..4} then c == 1",
            ["a_1 in {0, 2, 4, 6, 8} then c in {1}"],
        ),
        (
            "if a[1] in {i + j for i in 0..1, j in {3, 5} where i != 1 or j == 5} then c == 1",
            ["a_1 in {3, 5, 6} then c in {1}"],
        ),
        (
            "let k = 4 if a[k] where a[k] + k in {i for i in k..k + 2} then c == 1",
            ["a_4 where a_4 + 4 in {4 .. 6} then c in {1}"],
        ),
        (
            "let few = {1, 3} let more = 5..7 for i in few: if a[i] in more then c == 1",
            ["a_1 in {5..7} then c in {1}", "a_3 in {5..7} then c in {1}"],
        ),
        (
            "let colour = red if b where b == colour then c == 1",
            ['b where b == "red" then c in {1}'],
        ),
        ("let low = - 2 if a[1] where a[1] + low > 0 then c == 1", ["a_1 where a_1 + - 2 > 0"]),
        (
            "for c in {0.25, 0.5}: if b == red then a[1] == 1 [s=c, r=c]",
            [f"b in {{red}} then a_1 in {{1}} [s={c}, r={c}]" for c in (0.25, 0.5)],
        ),
        (
            "define same(x, y, v) { if x in {v} then y in {v} } same(a[1], c, 1) same(a[2], c, 0)",
            ["a_1 in {1} then c in {1}", "a_2 in {0} then c in {0}"],
        ),
        (
            "define last(x, n) { if x[n] where x[n] == n then c == 1 } last(a, 4)",
            ["a_4 where a_4 == 4 then c in {1}"],
        ),
        (
            "define down(n) { if a[n] == n then c == 1 when n > 1: down(n - 1) } down(3)",
            ["a_3 in {3} then c in {1}", "a_2 in {2} then c in {1}", "a_1 in {1} then c in {1}"],
        ),
        (
            "for x in {a}: if x[1] == 1 then c == 1 if b == x then c == 0",
            ["a_1 in {1} then c in {1}"],
        ),
    ],
    ids=lambda text: text[:60] if isinstance(text, str) else "",
)
def test_what_a_template_writes_out(text: str, written: list[str]) -> None:
    if text.startswith("for x in {a}"):  # the last rule stands after the loop: x is a text there
        with raises_saying(RulesTextError, "attribute 'b' has no value 'x'"):
            rules(text)
        return
    shown = rules(text)
    assert len(shown) == len(written)
    for one, two in zip(shown, written, strict=True):
        assert one.startswith(two)


@pytest.mark.parametrize(
    ("declaration", "names"),
    [
        ("attribute x[1..3] in {0, 1}", ["x_1", "x_2", "x_3"]),
        ("attribute x[0..1, 2..3] in 0..1", ["x_0_2", "x_0_3", "x_1_2", "x_1_3"]),
        ("attribute light[{red, green}] in 0..1", ["light_red", "light_green"]),
        ("attribute x[2, red] in 0..1", ["x_2_red"]),
        ("let k = 2 attribute x[1..k * k] in 0..k", ["x_1", "x_2", "x_3", "x_4"]),
        ("attribute `a b`[1..2] in 0..1", ["a b_1", "a b_2"]),
        ("attribute x[(1, 2)] in 0..1", ["x_1_2"]),
    ],
)
def test_families_of_attributes(declaration: str, names: list[str]) -> None:
    cascade = parse(f"{declaration} attribute z in {{0}} attribute y in {{0}} iff z==0 then y==0")
    assert list(cascade.attributes) == ["z", "y", *names]


def test_products_and_conditions_with_indices() -> None:
    cascade = parse(
        """
        attribute a[1..2] in 0..3
        for i in 1..2, j in 1..2 where i < j {
            product pair[i, j] = a[i] * a[j]
            for v in 0..3 { iff a[i] == v then pair[i, j] where a[i] == v }
        }
        """
    )
    pair = Attribute.product("pair_1_2", *(Attribute(f"a_{i}", range(4)) for i in (1, 2)))
    assert cascade.attributes["pair_1_2"] == pair
    conclusions = [rule.conclusion for rule in cascade["pair_1_2"].rules]
    assert conclusions == [pair.where(f"a_1 == {v}") for v in range(4)]
    assert str(parse(str(cascade))) == str(cascade)


def test_words_of_templates_may_be_names_and_values() -> None:
    text = """
        attribute for in {let, when} attribute version in {define, "include"}
        attribute function in {for, of} attribute at in {least, most}
        if for in {let} and at == least then version in {define}
        if function in {for} then version in {include}
    """
    cascade = parse(text)
    assert parse(str(cascade)) == cascade
    looped = parse(text.replace("if for", "for i in 1..1: if for"))
    assert looped == cascade


@settings(max_examples=30)
@given(st.integers(0, 3), st.integers(0, 3), st.booleans(), st.booleans())
def test_loops_are_python_loops(low: int, size: int, block: bool, nested: bool) -> None:
    """What loops write out, brute force writes out too."""
    high = low + size
    body = "if x[i] == j then y == i"
    inner = f"{{ {body} }}" if block else f": {body}"
    between = ": for " if nested else ", "
    head = "attribute x[0..9] in 0..9 attribute y in 0..9 if x[0] == 0 then y == 0 "
    text = f"{head} for i in {low}..{high}{between}j in i..{high} {inner} if x[9] == 9 then y == 9"
    plain = "".join(
        f"if x_{i} == {j} then y == {i} " for i in range(low, high + 1) for j in range(i, high + 1)
    )
    assert parse(text) == parse(f"{head} {plain} if x_9 == 9 then y == 9")


# --- what goes wrong ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "column", "parts"),
    [
        ("for i in 3..5:\n if a[i] == 0 then c == 1", 5, ["'a_5' is not declared", "with i = 5"]),
        (
            "for i in 1..2, j in {red, blue}:\n if b == j then c == 1",
            10,
            ["attribute 'b' has no value 'blue'", ", with i = 1, j = blue\n"],
        ),
        ("define f(x) {\n f(x) } f(a)", 2, ["more than 200 deep", "when n > 0", "with x = a"]),
        ("define f(n) {\n f(n + 1) f(n) } f(1)", 2, ["more than 200 deep"]),
        ("\nfor i in 5..1: if a[1] == 1 then c == 1", 10, ["a range goes up"]),
        ("\nfor i 1..2: if", 7, ["expected 'in', found '1'"]),
        ("\nfor i in 1..2 if a[1] == 1 then c == 1", 5, ["expected ':' and a statement"]),
        ("\nfor i in 1..2 where i: if a[i] == 1 then c == 1", 21, ["gives 1; it must give true"]),
        ("\nfor i in 1..2 where k > 1: if", 21, ["unknown name 'k'; known: i", "with i = 1"]),
        ("\nwhen 1: if", 6, ["this gives 1; it must give true or false"]),
        ("\nwhen 1 // 0 == 1: if", 6, ["this fails: "]),
        ("\nfor i in 1..2 { if a[i] == 1 then c == 1", 15, ["this '{' is not closed"]),
        ("\nfor i in 1..2 where i < 2 ] if a[1] == 1 then c == 1", 27, ["this ']' closes nothing"]),
        ("\nif a[1] == 1 then c == 1 }", 26, ["expected a statement", "found '}'"]),
        ("\nlet k = 1 let k = 2", 15, ["the variable 'k' has a value already"]),
        ("\nlet if = 1", 5, ["expected the name of a variable, found 'if'"]),
        ("\nlet k = n + 1", 9, ["computes with 'n', which is not a number"]),
        ("\nlet k = 2 if k == 1 then c == 1", 14, ["'k' is a variable here, not a name"]),
        ("\nlet k = 2 if a[k-1] == 1 then d == 1", 31, ["attribute 'd' is not declared"]),
        ("\nlet k = 2 let j = 1 if a[k-j] == 1", 26, ["a minus takes spaces around it"]),
        ("\nif a[0.5] == 1 then c == 1", 9, ["an index is an integer or a word; got 0.5"]),
        ("\nif a[] == 1 then c == 1", 6, ["expected an index, found ']'"]),
        ("\nif b < 3 then c == 1", 8, ["'<' compares numbers", "list the values"]),
        ("\nif a[1] < red then c == 1", 11, ["'<' compares numbers"]),
        ("\nif a[1] == 12 then c == 1", 12, ["attribute 'a_1' has no value 12"]),
        ("\nsame(a[1])", 1, ["no macro 'same' is defined before this"]),
        ("\ndefine same(x) { } sane(a[1])", 20, ["no macro 'sane'", "did you mean 'same'?"]),
        ("\ndefine f(x) { } define f(x) { }", 24, ["the macro 'f' is defined twice"]),
        ("\ndefine of(x) { }", 8, ["the macro 'of' is a word of the language"]),
        ("\ndefine f(x, x) { }", 8, ["two parameters of 'f' have one name"]),
        ("\ndefine f(x, y) { } f(1)", 20, ["'f' takes (x, y); got 1 arguments"]),
        ("\nif a[1] in {i for i 1..2} then c == 1", 21, ["expected 'in', found '1'"]),
        ("\nif a[1] in {i, 1 for i in 1..2} then c == 1", 14, ["expected 'for', found ','"]),
        ("\ndefine f(x) { f(x[x]) } f(a)", 21, ["name has more than 10,000", "with x = a_a_a"]),
        ("\ndefine f(x) { f((x, x)) } f(a)", 17, ["this tuple has more than 1,000 values"]),
        ("\nattribute z[1..999999, 1..999999] in 0..1", 35, ["more than 20,000,000 steps"]),
        ("\nattribute z[1..99999] in 0..99999", 11, ["attribute 'z_20' would have", "2,000,000"]),
        ('\ninclude "x.rules"', 9, ["give parse(text, directory=...)"]),
        ("\ninclude x", 9, ["expected a file's name in quotes, found 'x'"]),
        ("\nif a[1] == 1 then c == 1 [certainty=2]", 27, ["certainty is 2"]),
        ("\nif a[1] == 1 then c == 1 [r=0, certainty=1]", 32, ["give one of them"]),
    ],
    ids=lambda text: text[:60] if isinstance(text, str) else "",
)
def test_what_templates_say_when_they_are_wrong(text: str, column: int, parts: list[str]) -> None:
    with raises_saying(RulesTextError, f"line 3, column {column}: ", *parts) as caught:
        parse(HEAD + text)
    assert isinstance(caught.value, RulesTextError)
    assert (caught.value.line, caught.value.column) == (3, column)
    assert "^" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("for i in 1..9999: for j in 1..9999 { }", 38),
        ("for i in 1..9999, j in 1..9999 where false: if", 43),
        ("if a[1] in {i for i in 1..999, j in 1..9999 where i < 0} then c == 1", 53),
        ("for i in 1..9999: if a[1] where a[1] in {0..9999} then c == 1", 51),
        ("let s = 0..9999 for i in 1..999: if a[1] where a[1] in s then c==1", 58),
    ],
)
def test_templates_without_end(text: str, column: int) -> None:
    with raises_saying(RulesTextError, f"line 3, column {column}: ", "more than 200,000 steps"):
        parse(f"{HEAD}\n{text}", max_values=20_000)


def test_deep_recursion_that_ends_is_read() -> None:
    text = "define f(n) { if a[1] == n % 10 then c == 1 when n > 1: for i in 1..1 { f(n - 1) } } "
    assert len(rules(text + "f(200)")) == 200
    with raises_saying(RulesTextError, "more than 200 deep", "with n = 2, i = 1"):
        rules(text + "f(201)")


def test_parsing_is_linear_in_what_is_written_out() -> None:
    def work(n: int) -> int:
        text = f"{HEAD} for i in 1..{n}: if a[i % 4 + 1] where a[i % 4 + 1] + i > 3 then c == 1"
        return calls(lambda: parse(text))

    work(10)  # what is done once in a process
    assert work(4000) < 11 * work(400)


# --- included files ----------------------------------------------------------------------------

ONE = "attribute a in 0..1 attribute b in 0..1"


def written(folder: Path, **files: str) -> Path:
    """Write files ``<name>.rules`` and return the path of `main`."""
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.rules"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return folder / "main.rules"


def test_files_are_included_once_and_beside_the_including_one(tmp_path: Path) -> None:
    main = written(
        tmp_path,
        main='include "parts/one.rules" include "parts/two.rules" twice(a, b)',
        parts__one=f"{ONE} let k = 1",
        parts__two='include "one.rules" define twice(x, y) { if x == k then y == k }',
    )
    expected = parse(f"{ONE} if a == 1 then b == 1")
    assert load(main) == expected
    assert parse(main.read_text(), directory=tmp_path) == expected
    assert parse(main.read_text(), directory=str(tmp_path)) == expected


@pytest.mark.parametrize("name", ["../x.rules", "/etc/passwd", "C:/x", "a/../../x", "\\\\x\\y"])
def test_no_file_outside_is_included(name: str, tmp_path: Path) -> None:
    (tmp_path / "x.rules").write_text(ONE)
    main = tmp_path / "sub" / "main.rules"
    main.parent.mkdir()
    main.write_text(f'include "{name}"'.replace("\\", "\\\\"))
    with raises_saying(DataError, "main.rules: line 1, column 9: ", "may lead out of the dir"):
        load(main)


def test_no_link_leads_outside(tmp_path: Path) -> None:
    (tmp_path / "x.rules").write_text(ONE)
    main = tmp_path / "sub" / "main.rules"
    main.parent.mkdir()
    main.write_text('include "y.rules"')
    os.symlink(tmp_path / "x.rules", main.parent / "y.rules")
    with raises_saying(DataError, "may lead out of the directory"):
        load(main)


def test_circles_of_files(tmp_path: Path) -> None:
    main = written(tmp_path, main='include "x.rules"', x='include "y.rules"', y='include "x.rules"')
    chain = "x.rules -> y.rules -> x.rules"
    with raises_saying(RulesTextError, "main.rules: y.rules: line 1, column 9: ", chain):
        load(main)
    main = written(tmp_path, main='include "main.rules"')
    with raises_saying(RulesTextError, "circle: main.rules -> main.rules"):
        load(main)


def test_errors_in_included_files_name_them(tmp_path: Path) -> None:
    main = written(tmp_path, main='include "x.rules"', x="attribute a in 0..1\nif a = 1")
    with raises_saying(RulesTextError, "main.rules: x.rules: line 2, column 6: ", "    if a = 1\n"):
        load(main)
    main = written(tmp_path, main='include "x.rules"', x="attribute a in ;")
    with raises_saying(RulesTextError, "main.rules: x.rules: line 1, column 16: unexpected"):
        load(main)


def test_files_that_are_none(tmp_path: Path) -> None:
    main = written(tmp_path, main='include "x.rules"')
    with raises_saying(RulesTextError, "line 1, column 9: there is no file 'x.rules' here"):
        load(main)
    (tmp_path / "x.rules").mkdir()
    with raises_saying(RulesTextError, "there is no file 'x.rules' here"):
        load(main)
    (tmp_path / "x.rules").rmdir()
    (tmp_path / "x.rules").write_bytes(b"\xff\xff")
    with raises_saying(RulesTextError, "line 1, column 9: the file 'x.rules'", "not UTF-8 text"):
        load(main)
    main.write_text('for i in 1..2: include "x.rules"')
    with raises_saying(RulesTextError, "include", "outside loops"):
        load(main)


def test_cascades_of_templates_print_expanded() -> None:
    cascade = parse(HEAD + "for i in 1..4: iff a[i] == i then c == 1")
    assert isinstance(cascade, Cascade)
    assert "a_4 in {4}" in str(cascade)
    assert parse(str(cascade)) == cascade

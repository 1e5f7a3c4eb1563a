"""Decision tables in CSV and Excel files: what is written is read again, and errors say where."""

import csv
import sys
import zipfile
from collections.abc import Hashable, Iterable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from pinesy import (
    Attribute,
    Cascade,
    DataError,
    DomainError,
    If,
    PinesyError,
    RuleSet,
    parse,
    read_decision_table,
    write_decision_table,
)
from pinesy.exchange import table_sheets
from pinesy.exchange.decision_tables import AttributeCells
from pinesy.problems import addition
from strategies import cascades

openpyxl = pytest.importorskip("openpyxl")

TRIAGE = """\
kind,if age,if temperature,if `chest pain`,then urgency,s,r,note
domain,number cuts {<= 12},"number cuts {38, 40}","{no, yes}","{low, medium, high}",,,
if,,>= 40,-,"{medium, high}",,,very hot
if,<= 12,"[38, 40)",no,medium,,0.1,
iff,,,yes,high,,0,

if,-,< 38,no,low,1,0.25,
"""
RULES = """
    number age cuts {<= 12}
    number temperature cuts {38, 40}
    attribute `chest pain` in {no, yes}
    attribute urgency in {low, medium, high}
    if temperature >= 40 then urgency in {medium, high}
    if age <= 12 and 38 <= temperature < 40 and `chest pain` in {no} then urgency in {medium}
        [s=1, r=0.1]
    iff `chest pain` in {yes} then urgency in {high}
    if temperature < 38 and `chest pain` in {no} then urgency in {low} [s=1, r=0.25]
"""


def csv_file(directory: Path, text: str) -> Path:
    path = directory / "table.csv"
    path.write_text(text, encoding="utf-8")
    return path


def workbook(directory: Path, *sheets: list[list[Any]]) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for number, rows in enumerate(sheets, 1):
        page = book.create_sheet(f"sheet {number}")
        for row in rows:
            page.append(row)
    book.save(directory / "table.xlsx")
    return directory / "table.xlsx"


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_table_is_read_as_its_rules(tmp_path: Path, separator: str) -> None:
    text = TRIAGE
    if separator != ",":
        rows = list(csv.reader(TRIAGE.splitlines()))
        text = "\n".join(separator.join(f'"{cell}"' for cell in row) for row in rows)
    assert read_decision_table(csv_file(tmp_path, "\ufeff" + text)) == parse(RULES)


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cascade=cascades(texts=True))
def test_what_is_written_is_read_again(cascade: Cascade, tmp_path: Path) -> None:
    for path in (tmp_path / "table.csv", tmp_path / "table.xlsx"):
        write_decision_table(cascade, path)
        assert read_decision_table(path) == cascade


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_formulas_products_and_any_order_of_conditions_are_kept(
    suffix: str, tmp_path: Path
) -> None:
    rules = parse(
        """
        attribute left in {0..3}
        attribute right in {0..3}
        product pair = left * right
        attribute total in {0..6}
        attribute size in {small, "rather large", "=1+1", "-"}
        number age cuts {30, <= 65} [blur=2]
        number height cuts {150} named {short, tall}
        attribute left_or in {false, true}
        attribute unused in {a, "b c"}
        iff left in {0} then pair where left == 0
        iff right in {1} then pair where right == 1
        iff pair where left + right == 2 then total in {2} [s=0.1, r=0]
        if total in {1} or size in {small} then left_or in {true} [certainty=0.9]
        if age < 30 and size in {"=1+1"} then left_or in {false}
        if size in {"-"} and age > 65 and height in {tall} then left_or in {false}
        if age in {"<30", ">65"} and age <= 65 then left_or in {true}
    """
    )
    path = tmp_path / f"table{suffix}"
    write_decision_table(rules, path)
    assert read_decision_table(path) == rules
    if suffix == ".xlsx":
        book = openpyxl.load_workbook(path)
        assert book.sheetnames == ["pair", "total", "left_or"]
        cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row]
        assert not [cell for cell in cells if cell.data_type == "f"]


def test_a_large_table_is_kept(tmp_path: Path) -> None:
    rules = addition(2)
    write_decision_table(rules, tmp_path / "sum.xlsx")
    assert read_decision_table(tmp_path / "sum.xlsx") == rules


NUMBERS = [1e16, 1e20, 1e300, -1e16, 1.5e16, 1e15, 1e14, 1e-7, 5e-324, 10**18, 2.0, 3, 0.1 + 0.2]


def rules_on(name: str, values: Iterable[Hashable]) -> Cascade:
    """Return a rule for each value of an attribute."""
    attribute, output = Attribute(name, values), Attribute("b", ["no", "yes"])
    rules = [If(attribute.isin({v})).then(output.isin({"yes"})) for v in attribute.domain]
    return Cascade(RuleSet(rules))


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_numbers_of_any_size_are_kept(tmp_path: Path, suffix: str) -> None:
    rules = rules_on("a", NUMBERS)
    path = tmp_path / f"table{suffix}"
    write_decision_table(rules, path)
    again = read_decision_table(path)
    assert again == rules
    domain = again.attributes["a"].domain
    assert [repr(value) for value in domain] == [repr(value) for value in NUMBERS]


@pytest.mark.parametrize("stored", ["10000000000000000", "1E+16", "1e16"])
def test_a_cell_with_a_number_is_the_value_that_equals_it(tmp_path: Path, stored: str) -> None:
    for value in (1e16, 10**16):
        path = workbook(tmp_path, [["if a", "then b"], [float(stored), "yes"], [1, "yes"]])
        rewrite(path, "xl/worksheets/sheet1.xml", b"<v>1e+16</v>", f"<v>{stored}</v>".encode())
        rules = rules_on("a", [value, 1.0])
        assert read_decision_table(path, rules.attributes.values()) == rules
        path = csv_file(tmp_path, f"if a,then b\n{stored},yes\n1,yes\n")
        assert read_decision_table(path, rules.attributes.values()) == rules


def rewrite(path: Path, member: str, old: bytes, new: bytes) -> None:
    """Replace bytes of a member of a ZIP file, which must be there once."""
    with zipfile.ZipFile(path) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    assert contents[member].count(old) == 1
    contents[member] = contents[member].replace(old, new)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in contents.items():
            archive.writestr(name, content)


@pytest.mark.parametrize(
    "name", [";" * 20, "a;b;c;d;e;f", "x;if y;if z;if u;if v;then w", "if ;s;"]
)
def test_a_name_may_hold_separators(tmp_path: Path, name: str) -> None:
    rules = rules_on(name, [0, 1])
    write_decision_table(rules, tmp_path / "table.csv")
    assert read_decision_table(tmp_path / "table.csv") == rules


def test_the_separator_leaves_headers_that_say_something(tmp_path: Path) -> None:
    rules = rules_on("a;b;c;d", [0, 1])
    for header in ("if a;b;c;d,then b", "if a;b;c;d\tthen b", '"if a;b;c;d";then b'):
        separator = header.removesuffix("then b")[-1]
        path = csv_file(tmp_path, f"{header}\n0{separator}yes\n1{separator}yes\n")
        assert read_decision_table(path, rules.attributes.values()) == rules


def test_one_row_may_have_several_conclusions_and_domains_may_be_given(tmp_path: Path) -> None:
    a, b, c = (Attribute(name, ["no", "yes"]) for name in "abc")
    path = csv_file(tmp_path, "IF a,then b,Then c\nyes,yes,no\n")
    expected = [
        RuleSet([If(a.isin({"yes"})).then(x.isin({v}))]) for x, v in ((b, "yes"), (c, "no"))
    ]
    assert read_decision_table(path, [a, b, c]) == Cascade(*expected)


def test_cells_of_workbooks_have_types(tmp_path: Path) -> None:
    path = workbook(
        tmp_path,
        [["kind", "if a", "if b"], ["domain", "{0, 1, 2.5}", "{false, true}"]],
        [["if a", "if b", "then c", "s"], [2.5, True, 1, 0.5], [1.0, None, "{0}", 0]],
        [["kind", "then c"], ["domain", "{0, 1}"]],
    )
    assert read_decision_table(path) == parse("""
        attribute a in {0, 1, 2.5}
        attribute b in {false, true}
        attribute c in {0, 1}
        if a in {2.5} and b in {true} then c in {1} [s=0.5, r=0]
        if a in {1} then c in {0} [s=0, r=0]
    """)


HEAD = 'kind,if a,then b,s,r\ndomain,{0..3},"{no, yes}",,\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the table is empty"),
        (HEAD, "the table has no rules"),
        ("if a,b\n", r"row 1, column B: the header 'b' is unknown; write 'if NAME'"),
        ("if a,then b,then\n", r"row 1, column C: the header 'then' is unknown; write"),
        ("s,s\n", r"row 1, column B: there are two columns 's'"),
        (HEAD + "if,4,yes\n", r"row 3, column B \('if a'\): attribute 'a' has no value 4"),
        (HEAD + 'if,"{1, 4}",yes\n', r"row 3, column B \('if a'\): .*has no value 4"),
        (HEAD + "if,{1} and a in {2},yes\n", r"column B .*'and' is one thing too many"),
        (HEAD + "if,1,yes,x\n", r"row 3, column D \('s'\): s is 'x', which is no number"),
        (HEAD + 'if,1,yes,"0,5"\n', r"column D .*write a decimal point"),
        (HEAD + "if,1,yes,,1.5\n", r"row 3, column E \('r'\): r .*1.5"),
        (HEAD + "if,1,yes,nan\n", r"row 3, column D \('s'\): s"),
        (HEAD + "else,1,yes\n", r"row 3, column A \('kind'\): 'else' is no kind of row"),
        (HEAD + "if,-,yes\n", r"row 3: there is no condition, and a rule needs one"),
        (HEAD + "if,1,\n", r"row 3: there is no conclusion"),
        (HEAD + "if,1,{}\n", r"row 3: .*has an empty conclusion"),
        (HEAD + "if,1,yes,,,x\n", r"row 3, column F: 'x' stands in a column without a header"),
        (HEAD + "domain,{0..4},,,\n", r"row 3, column B .*domain of 'a' is another one"),
        (HEAD + "domain,0 1,,,\n", r"row 3, column B .*'0 1' is no domain; write a set"),
        (
            "if a,then b\n1,yes\n3,no\n",
            r"row 1, column A: the domain of 'a' is not known.*\{1, 3\}",
        ),
        ("kind,if p\ndomain,product x * y\n", r"row 2, column B .*attribute 'x' is not declared"),
        ("kind,if a\ndomain,number cuts {3\n", r"row 2, column B"),
        ('if a,"then b\n', "no CSV file"),
        (HEAD + "=1+1,1,yes\n", r"'=1\+1' is no kind"),
    ],
)
def test_errors_name_row_and_column(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        read_decision_table(csv_file(tmp_path, text))
    assert "line 1" not in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path / "table.csv"))


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("=A1", r"sheet 'sheet 1', row 2, column A: a formula \(=A1\), which is not evaluated"),
        ("#DIV/0!", r"row 2, column A: an error \(#DIV/0!\)"),
        (date(2020, 1, 1), r"row 2, column A: a datetime \(2020-01-01"),
        (7, r"sheet 'sheet 1', row 2, column A \('if a'\): attribute 'a' has no value 7"),
    ],
)
def test_what_a_workbook_may_not_hold_is_named(tmp_path: Path, cell: Any, message: str) -> None:
    path = workbook(tmp_path, [["if a", "then b"], [cell, "yes"]])
    known = [Attribute("a", [0, 1]), Attribute("b", ["no", "yes"])]
    with pytest.raises(DataError, match=message):
        read_decision_table(path, known)


def test_merged_cells_are_refused(tmp_path: Path) -> None:
    path = workbook(tmp_path, [["if a", "then b"], [1, "yes"], [None, "no"]])
    book = openpyxl.load_workbook(path)
    book.active.merge_cells("A2:A3")
    book.save(path)
    with pytest.raises(DataError, match=r"sheet 'sheet 1', cells A2:A3: merged cells"):
        read_decision_table(path)


def test_what_would_fill_the_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = csv_file(tmp_path, "kind,if a,then b\ndomain,{0..99},{0..99}\nif,1,1\n")
    monkeypatch.setenv("PINESY_MAX_VALUES", "150")
    with pytest.raises(DataError, match=r"row 2, column C .*would have 100 values"):
        read_decision_table(path)
    path = workbook(tmp_path, [["if a", "then b"], [1, "yes"]])
    book = openpyxl.load_workbook(path)
    book.active.cell(1_048_576, 16_384).value = "far"
    book.save(path)
    with pytest.raises(DataError, match=r"sheet 'sheet 1': 17,179,869,184 cells"):
        read_decision_table(path)
    monkeypatch.setattr(table_sheets, "MAX_UNPACKED", 1000)
    with pytest.raises(DataError, match=r"bytes, and a table has 1,000 at most"):
        read_decision_table(path)


def test_files_that_are_none_are_refused(tmp_path: Path) -> None:
    (tmp_path / "table.xlsx").write_bytes(b"not a workbook")
    with pytest.raises(DataError, match=r"table.xlsx: no workbook of Excel"):
        read_decision_table(tmp_path / "table.xlsx")
    with pytest.raises(DataError, match="cannot be read"):
        read_decision_table(tmp_path / "missing.xlsx")
    for use in (read_decision_table, lambda path: write_decision_table(addition(1), path)):
        with pytest.raises(DataError, match=r"is a .csv or .xlsx file, not '.ods'"):
            use(tmp_path / "table.ods")


def test_damaged_workbooks_are_refused(tmp_path: Path) -> None:
    """zlib, zipfile and the XML parser raise errors of many kinds for one changed byte."""
    write_decision_table(parse(RULES), tmp_path / "t.xlsx")
    content = (tmp_path / "t.xlsx").read_bytes()
    refused = 0
    for i in range(0, len(content), 29):
        changed = bytearray(content)
        changed[i] ^= 0x55
        (tmp_path / "t.xlsx").write_bytes(changed)
        try:
            read_decision_table(tmp_path / "t.xlsx")
        except PinesyError:
            refused += 1
    assert refused > len(content) // 29 // 3


def test_what_excel_cannot_hold_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_sheets, "MAX_TEXT", 10)
    with pytest.raises(DataError, match=r"Excel holds .* and 10: write a .csv or .rules file"):
        write_decision_table(addition(1), tmp_path / "sum.xlsx")
    value = Attribute("a", [object(), 1])
    rules = RuleSet([If(value.isin({1})).then(Attribute("b", [0, 1]).isin({1}))])
    with pytest.raises(DomainError, match="has no written form"):
        write_decision_table(rules, tmp_path / "sum.csv")
    assert not list(tmp_path.iterdir())


def test_titles_of_sheets_are_made_to_fit(tmp_path: Path) -> None:
    a = Attribute("a", [0, 1])
    names = ["x" * 40, "x" * 41, "X" * 40, "a/b", "[a:b]", "'"]
    sets = [RuleSet([If(a.isin({1})).then(Attribute(n, [0, 1]).isin({1}))]) for n in names]
    write_decision_table(Cascade(*sets), tmp_path / "t.xlsx")
    titles = openpyxl.load_workbook(tmp_path / "t.xlsx").sheetnames
    assert titles == ["x" * 31, "x" * 29 + " 2", "X" * 29 + " 3", "a_b", "_a_b_", "_"]
    assert read_decision_table(tmp_path / "t.xlsx") == Cascade(*sets)


def test_a_set_is_not_taken_for_a_text_that_looks_like_it() -> None:
    attribute = Attribute("a", ["a", "b", "{a, b}", "{ a, b}"])
    cells = AttributeCells(attribute)
    for mask in range(1, 16):
        proposition = attribute.isin([v for i, v in enumerate(attribute.domain) if mask >> i & 1])
        assert cells.read(cells.write(proposition)) == proposition


def test_what_is_not_there_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'pinesy\[excel\]'"):
        write_decision_table(addition(1), tmp_path / "sum.xlsx")

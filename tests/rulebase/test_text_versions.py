"""Texts of older versions keep their meaning."""

from pathlib import Path

import pytest

from messages import raises_saying
from pinesy import RulesTextError, load, parse, save

DECLARED = "attribute a in 0..1 attribute b in 0..1\n"
OLD_HEAD = "# written by pinesy; the last line says: end\n"


def parameters(cascade_text: str) -> list[tuple[float, float]]:
    return [(rule.s, rule.r) for rule in parse(cascade_text)["b"].rules]


def test_in_version_1_what_is_not_given_is_0() -> None:
    text = "version 1 " + DECLARED + "if a == 0 then b == 0 if a == 1 then b == 1 [r=0.5]"
    assert parameters(text) == [(0.0, 0.0), (0.0, 0.5)]


def test_equivalences_and_certainties() -> None:
    text = DECLARED + "iff a == 0 then b == 0 if a == 1 then b == 1 [certainty=0.9]"
    assert parameters(text) == [(0.0, 0.0), (1.0, 0.1)]
    assert parameters("version 2 " + text) == parameters(text)
    text = DECLARED + "for c in {0.3, 0.7}: iff a == 0 then b == 0 [certainty=c]"
    assert parameters(text) == [(0.0, 0.7), (0.0, 0.3)]


def test_a_file_with_the_older_head_is_of_version_1(tmp_path: Path) -> None:
    path = tmp_path / "x.rules"
    path.write_text(f"{OLD_HEAD}\n{DECLARED}if a == 0 then b == 0 [r=0.25]\n\n# end\n")
    rule = load(path)["b"].rules[0]
    assert (rule.s, rule.r) == (0.0, 0.25)
    save(load(path), path)
    assert load(path)["b"].rules[0] == rule
    assert "\nversion 2\n" in path.read_text()
    assert not path.read_text().startswith(OLD_HEAD)


@pytest.mark.parametrize("head", [OLD_HEAD, "# written by pinesy, and whole if the last"])
def test_cut_files_are_noticed(head: str, tmp_path: Path) -> None:
    path = tmp_path / "x.rules"
    save(parse(DECLARED + "if a == 0 then b == 0"), path)
    text = path.read_text().split("\n", 1)[1] if head == OLD_HEAD else path.read_text()
    whole = head + text.replace("version 2", "") if head == OLD_HEAD else text
    assert whole.startswith(head)
    path.write_text(whole.removesuffix("# end\n"))
    with pytest.raises(Exception, match="its last line is not '# end'"):
        load(path)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("version 3", ["column 9: this pinesy reads versions 1 to 2, not 3; update pinesy"]),
        ("version 0", ["versions 1 to 2, not 0"]),
        ("version 1 " + DECLARED + "iff a == 0", ["line 2, column 1: 'iff' came with version 2"]),
        (DECLARED + "version 1", ["line 2, column 1: the version stands before everything else"]),
    ],
)
def test_what_is_wrong_with_versions(text: str, parts: list[str]) -> None:
    with raises_saying(RulesTextError, *parts):
        parse(text)


def test_older_files_are_not_included_in_newer_ones(tmp_path: Path) -> None:
    (tmp_path / "x.rules").write_text(OLD_HEAD + DECLARED + "# end")
    main = tmp_path / "main.rules"
    main.write_text('include "x.rules" if a == 0 then b == 0')
    with raises_saying(RulesTextError, "column 9: the file 'x.rules' is of an older version"):
        load(main)
    main.write_text("version 1 " + main.read_text())
    assert load(main)["b"].rules[0].s == 0.0

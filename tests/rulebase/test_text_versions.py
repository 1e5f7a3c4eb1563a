"""The version of the language, and the parameters that rules have by default."""

from pathlib import Path

import pytest

from messages import raises_saying
from pinesy import DataError, RulesTextError, load, parse, save

DECLARED = "attribute a in 0..1 attribute b in 0..1\n"


def parameters(cascade_text: str) -> list[tuple[float, float]]:
    return [(rule.s, rule.r) for rule in parse(cascade_text)["b"].rules]


def test_equivalences_and_certainties() -> None:
    text = DECLARED + "iff a == 0 then b == 0 if a == 1 then b == 1 [certainty=0.9]"
    assert parameters(text) == [(0.0, 0.0), (1.0, 0.1)]
    assert parameters("version 2 " + text) == parameters(text)
    assert parameters(text + " version 2") == parameters(text)
    text = DECLARED + "for c in {0.3, 0.7}: iff a == 0 then b == 0 [certainty=c]"
    assert parameters(text) == [(0.0, 0.7), (0.0, 0.3)]


def test_saved_files_state_the_version_and_cut_files_are_noticed(tmp_path: Path) -> None:
    path = tmp_path / "x.rules"
    save(parse(DECLARED + "if a == 0 then b == 0"), path)
    text = path.read_text()
    assert "\nversion 2\n" in text
    path.write_text(text.removesuffix("# end\n"))
    with raises_saying(DataError, "its last line is not '# end'"):
        load(path)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("version 3", ["column 9: ", "version 2, not 3", "update pinesy"]),
        ("version 0", ["column 9: ", "version 2, not 0"]),
        ("version 1 " + DECLARED, ["column 9: ", "version 2, not 1", "'version 2'", "'iff'"]),
        (DECLARED + "version 1", ["line 2, column 9: ", "version 2, not 1", "'version 2'"]),
        ("version true", ["column 9: ", "version 2, not True"]),
        ("version 2.0", ["column 9: ", "version 2, not 2.0"]),
    ],
)
def test_what_is_wrong_with_versions(text: str, parts: list[str]) -> None:
    with raises_saying(RulesTextError, *parts):
        parse(text)


def test_included_files_of_other_versions_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x.rules").write_text("version 1\n" + DECLARED)
    main = tmp_path / "main.rules"
    main.write_text('include "x.rules" if a == 0 then b == 0')
    with raises_saying(RulesTextError, "x.rules: line 1, column 9: ", "version 2, not 1"):
        load(main)
    (tmp_path / "x.rules").write_text("version 2\n" + DECLARED)
    assert load(main)["b"].rules[0].s == 1.0

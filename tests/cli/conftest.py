"""What the tests of the command line share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from pinesy._common import console
from pinesy.cli.app import app

RULES = """
attribute left in {0..3}
attribute right in {0..3}
product pair = left * right
attribute total in {0..6}
attribute size in {small, "rather large"}

iff left in {0} then pair where left == 0
iff left in {1} then pair where left == 1
iff left in {2} then pair where left == 2
iff left in {3} then pair where left == 3
iff right in {0} then pair where right == 0
iff right in {1} then pair where right == 1
iff right in {2} then pair where right == 2
iff right in {3} then pair where right == 3
iff pair where left + right == 0 then total in {0}
iff pair where left + right == 1 then total in {1}
iff pair where left + right == 2 then total in {2} [s=0.1, r=0]
iff pair where left + right == 3 then total in {3}
iff pair where left + right == 4 then total in {4}
iff pair where left + right == 5 then total in {5}
iff pair where left + right == 6 then total in {6}
iff pair where left + right <= 3 then size in {small}
"""


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    """Return a file of rules: two digits, their sum, and whether it is small."""
    path = tmp_path / "sum.rules"
    path.write_text(RULES)
    return path


@pytest.fixture
def pinesy(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Return a function that runs a command and gives its result."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(console, "NOTICE_AFTER", 600.0)  # a fresh machine compiles and says so

    def run(*arguments: object, **options: Any) -> Any:
        return CliRunner().invoke(app, list(map(str, arguments)), prog_name="pinesy", **options)

    return run

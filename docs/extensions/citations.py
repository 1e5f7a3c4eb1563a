"""Citations as the paper numbers them: code cites labels, which readers of the paper do not see."""

import re
from pathlib import Path

_LABELS = Path(__file__).parents[2] / "tests" / "paper" / "labels.txt"
#: How the paper numbers what has a label, such as "equation (26)".
NUMBERS = dict(line.split(" ", 1) for line in _LABELS.read_text(encoding="utf-8").splitlines())
_LABEL = re.compile(r"\b[a-z]+:[A-Za-z]\w*(?:[:-]\w+)*")


def with_numbers(line: str) -> str:
    """Return a line that cites by numbers: ``[eq:redFP]`` is ``[equation (26)]``."""
    return _LABEL.sub(lambda match: NUMBERS.get(match[0], match[0]), line)

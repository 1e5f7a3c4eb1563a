"""The figures that the paper prints, as tests/paper/golden.json keeps them."""

import json
from pathlib import Path
from typing import Any

PAPER: dict[str, Any] = json.loads(
    (Path(__file__).parent / "paper" / "golden.json").read_text(encoding="utf-8")
)

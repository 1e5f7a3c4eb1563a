"""Writes docs/command-line.md from the commands: ``python docs/command_reference.py``."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

from typer.main import get_command

from pinesy.cli.app import app

PAGE = Path(__file__).with_name("command-line.md")
INTRODUCTION = """\
# On the command line

```bash
pinesy check examples/blood_glucose.rules
pinesy show examples/blood_glucose.rules --partition --matrix
pinesy infer examples/blood_glucose.rules examples/blood_glucose.jsonl
pinesy explain examples/blood_glucose.rules examples/blood_glucose.jsonl
pinesy backprop examples/weather.rules examples/weather_valid.jsonl
pinesy learn examples/weather.rules examples/weather_train.jsonl -o model.json
pinesy audit model.json examples/weather_train.jsonl
pinesy calibrate model.json examples/weather_valid.jsonl -o calibrated.json
pinesy infer calibrated.json examples/weather_valid.jsonl --level 0.8
```

Answers come as a verdict: what was decided, because of what, what would change it, how firm it is.
Data is [JSON Lines, CSV or Parquet](data-files.md); results as a table, JSON Lines, CSV or
Parquet. The
text of rules is described in [rules-format.md](rules-format.md); `pinesy export` and
`pinesy import` write and read [other forms](exchange.md). Below is what `--help` says.
"""


def page() -> str:
    """Return the text of the page."""
    group: Any = get_command(app)
    panels: dict[str, list[str]] = {}
    for name, unloaded in group.commands.items():
        command = unloaded.loaded
        commands = {name: command}
        if hasattr(command, "commands"):
            commands = {f"{name} {inner}": c for inner, c in command.commands.items()}
        panel = unloaded.rich_help_panel
        panels.setdefault(panel, []).extend(map(_section, commands, commands.values()))
    parts = [f"## {panel}\n\n" + "\n".join(sections) for panel, sections in panels.items()]
    return "\n".join([INTRODUCTION, *parts])


def _section(name: str, command: Any) -> str:
    """Return the section of a command: what it does, its help, its options."""
    first, _, rest = _plain(command.help or "").partition("\n\n")
    text = f"### pinesy {name}\n\n{' '.join(first.split())}\n\n"
    if rest:
        text += f"```text\n{rest}\n```\n\n"
    rows = "\n".join(_options(command))
    return f"{text}| argument or option | |\n|---|---|\n{rows}\n"


def _options(command: Any) -> Iterator[str]:
    """Yield a row for each argument and option."""
    for parameter in command.params:
        if "--help" in parameter.opts:
            continue
        annotation = parameter.type_descriptor.annotation
        choices = "|".join(map(str, get_args(annotation)))
        value = parameter.metavar or choices or annotation.__name__.upper()
        names = ", ".join(parameter.opts)
        if parameter.param_type_name == "argument":
            names = value
        elif not parameter.is_flag:
            names += f" {value}"
        help_text = " ".join(_plain(parameter.help or "").split())
        cells = [text.replace("|", "\\|") for text in (names, help_text)]
        yield f"| `{cells[0]}` | {cells[1]} |"


def _plain(text: str) -> str:
    """Return a text without the marks of Rich."""
    text = re.sub(r"\[/?bold\]", "", text.replace("\b", ""))
    return text.replace("\\[", "[").replace("\f", "").strip()


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

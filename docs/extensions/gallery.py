"""The examples with what they print: the page that lists them shows them too.

They are run when the site is built, all in one process, so that what is shown is what happens.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
PAGE = "examples"
_LISTED = re.compile(r"\[(\w+\.(?:py|rules|csv|jsonl))\]\(")
#: Runs the files that it is given, and writes what each prints as JSON.
RUNNER = """
import contextlib, io, json, runpy, sys
printed = {}
for path in sys.argv[1:]:
    sys.argv = [path]
    with contextlib.redirect_stdout(io.StringIO()) as out:
        runpy.run_path(path, run_name="__main__")
    printed[path] = out.getvalue()
print(json.dumps(printed))
"""


def setup(app: Sphinx) -> dict[str, bool]:
    """Add to the page before it is parsed."""
    app.connect("source-read", show_examples, priority=600)  # its links are moved by then
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def show_examples(app: Sphinx, docname: str, source: list[str]) -> None:
    """Put every example that the page lists below its tables, with its output."""
    if docname != PAGE:
        return
    names = list(dict.fromkeys(_LISTED.findall(source[0])))
    for name in names:
        app.env.note_dependency(str(EXAMPLES / name), docname=docname)
    printed = run([EXAMPLES / name for name in names if name.endswith(".py")])
    source[0] += "".join(section(name, printed.get(str(EXAMPLES / name))) for name in names)


def run(paths: list[Path]) -> dict[str, str]:
    """Return what the programs print, by path; they run in an empty directory."""
    with tempfile.TemporaryDirectory() as empty:
        done = subprocess.run(
            [sys.executable, "-c", RUNNER, *map(str, paths)],
            cwd=empty,
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
    return dict(json.loads(done.stdout))


def section(name: str, printed: str | None) -> str:
    """Return the section of an example: its text, and what it prints."""
    language = "python" if name.endswith(".py") else "text"
    code = f"```{{literalinclude}} ../examples/{name}\n:language: {language}\n```\n"
    output = (
        "" if printed is None else f"\n```{{code-block}} text\n:class: output\n\n{printed}```\n"
    )
    return f"\n## {name}\n\n{code}{output}"

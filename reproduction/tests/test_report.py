"""The tables of the report: numbers reckoned by hand, ours beside the paper's."""

from io import StringIO
from itertools import takewhile
from pathlib import Path

import pytest
from rich.console import Console

from reproduction.groups import figure
from reproduction.rendering import markdown, print_report
from reproduction.report import ResultsReport, read_report
from reproduction.tests.report_tables import row, rows, section
from reproduction.tests.synthetic import SECONDS, a_record, keep, keep_all


def ours(report: ResultsReport, setting: str = "normal") -> tuple[dict[str, str], dict[str, str]]:
    """Return our rows of Pi-NeSy-1 on Addition-1: accuracy, and time."""
    accuracy, cost = section(report, "Addition-1")
    place = {"method": "Pi-NeSy-1, ours", "setting": setting}
    return row(accuracy, **place), row(cost, **place)


def test_mean_and_deviation_of_the_population() -> None:
    # deviations -2, 0, 2; their squares 8 in all, 8 / 3 on average
    assert figure([96.0, 98.0, 100.0]).mean == 98.0
    assert figure([96.0, 98.0, 100.0]).deviation == pytest.approx((8 / 3) ** 0.5)
    assert figure([98.0]).deviation is None


def test_accuracy_over_runs(tmp_path: Path) -> None:
    for run, (right, digits) in enumerate([(96, 0.99), (98, 0.98), (100, 1.0)]):
        keep(tmp_path, right, run=run, digit_accuracy=digits)
    found = ours(read_report(tmp_path))[0]
    assert found["accuracy, %"] == "98.00 ± 1.63"
    assert found["runs"] == "3"
    assert found["standard error, %"] == "0.8 (300 samples)"  # (0.98 * 0.02 / 300) ** 0.5
    assert found["digit accuracy, %"] == "99.00 ± 0.82"
    assert found["supervision"] == "every image labelled"


def test_of_one_run_no_deviation_is_given(tmp_path: Path) -> None:
    keep(tmp_path, 98)
    found = ours(read_report(tmp_path))[0]
    assert (found["accuracy, %"], found["runs"]) == ("98.00", "1")


@pytest.mark.parametrize(
    ("setting", "right", "verdict"),
    [
        ("normal", 4956, "yes (+0.12, +1.2 sd)"),  # the paper: 99.0 ± 0.1
        ("normal", 4960, "yes (+0.20, +2.0 sd)"),
        ("normal", 4940, "yes (-0.20, -2.0 sd)"),
        (
            "normal",
            4939,
            "no (-0.22, -2.2 sd), but by rounding",
        ),
        ("normal", 4900, "no (-1.00, -10.0 sd)"),
        ("ablation", 4956, "yes (+0.12, +1.2 sd)"),
        ("low-data", 4700, "yes (+0.50, +0.2 sd)"),  # 93.5 ± 2.9
        (
            "deepsoftlog-cnn",  # 98.7 ± 0.01
            4937,
            "no (+0.04, +4.0 sd), but by rounding",
        ),
        ("better-eye", 4956, "–"),
    ],
)
def test_within_two_deviations_of_the_paper(
    tmp_path: Path, setting: str, right: int, verdict: str
) -> None:
    keep(tmp_path, right, 5000, setting=setting)
    found = ours(read_report(tmp_path), setting)[0]
    assert found["within two deviations of the paper"] == verdict


def test_others_stand_beside_us(tmp_path: Path) -> None:
    keep(tmp_path, size=100)
    accuracy, cost = section(read_report(tmp_path), "Addition-100")
    prover = row(accuracy, method="DeepProofLog")
    assert (prover["accuracy, %"], prover["runs"], prover["supervision"]) == (
        "37.8",
        "–",
        "sum only",
    )
    assert "published by its authors" in prover["source"]
    stopped = row(accuracy, method="A-NeSI")
    assert (stopped["accuracy, %"], stopped["runs"]) == ("overflow", "–")
    paper = row(accuracy, method="Pi-NeSy-2, paper")
    assert (paper["accuracy, %"], paper["runs"]) == ("35.8 ± 5.5", "10")
    assert paper["standard error, %"] == "1.7 (10 runs)"  # 5.5 / 10 ** 0.5
    assert prover["standard error, %"] == stopped["standard error, %"] == "–"
    assert list(accuracy.ours) == [True] + [False] * (len(accuracy.ours) - 1)
    theirs = row(cost, method="Pi-NeSy-1, paper")
    assert theirs["all learning, s"] == "1,212 ± 19"
    assert theirs["inference per sample, ms"] == "181"
    assert theirs["peak memory, MB"] == "1,308 ± 6.1"


def test_times_and_the_symbolic_share(tmp_path: Path) -> None:
    slower = {**SECONDS, "training": 110.0, "inference": 3.0}
    keep(tmp_path, run=0)
    keep(tmp_path, run=1, seconds=slower, memory_mb=1000.0)
    found = ours(read_report(tmp_path))[1]
    assert found["training, s"] == "100 ± 10"
    assert found["thresholds, s"] == "1.5 ± 0"
    assert found["learning, s"] == "1 ± 0"
    assert found["all learning, s"] == "109 ± 10"  # 99 and 119
    assert found["inference per sample, ms"] == "20 ± 10"  # of 100 samples
    assert found["peak memory, MB"] == "900 ± 100"
    assert found["symbolic share, %"] == "4.5"  # (4 + 6) of (100 + 122)


def test_a_share_needs_the_time_of_training(tmp_path: Path) -> None:
    keep(tmp_path, seconds={**SECONDS, "training": 0.0})
    assert ours(read_report(tmp_path))[1]["symbolic share, %"] == "–"


def test_all_together_each_network_counts_once(tmp_path: Path) -> None:
    keep(tmp_path)
    keep(tmp_path, transform="minimum-specificity", size=4)
    other = {**a_record()["network"], "fingerprint": "beef"}
    keep(tmp_path, run=1, network=other)
    text = " ".join(read_report(tmp_path).sections[0].paragraphs)
    # 3 records of 4 s, 3 times 1 s for samples, and two networks of 95 s
    assert "All 3 records together" in text
    assert "symbolic 12 s of 205 s, 5.85 %" in text


def test_overview(tmp_path: Path) -> None:
    keep(tmp_path, 96, size=4)
    keep(tmp_path, 98, size=4, run=1)
    table = section(read_report(tmp_path), "Addition")[0]
    assert table.columns[2:] == ["k = 1", "k = 2", "k = 4", "k = 15", "k = 100"]
    assert row(table, method="Pi-NeSy-1, ours")["k = 4"] == "97.00 ± 1.00 (2)"
    assert row(table, method="Pi-NeSy-1, ours")["k = 1"] == "–"
    assert row(table, method="DeepStochLog")["k = 15"] == "timeout"


def test_what_learning_found(tmp_path: Path) -> None:
    keep(tmp_path, largest_parameter=0.25, distance=0.0)
    reliable = {"c_*": [12, 40.0, 90], "w_*": [0, 6.0, 7], "y_*": [1, 2.0, 3]}
    thresholds = {"c_*": 4.12e-8, "w_*": 2.12e-8, "y_*": 4.12e-8}
    keep(tmp_path, run=1, reliable=reliable, thresholds=thresholds, distance=0.125)
    table = section(read_report(tmp_path), "What learning found")[0]
    pairs, carries = row(table, group="c_*"), row(table, group="w_*")
    assert pairs["threshold"] == "4.12e-08"
    assert carries["threshold"] == "3.12e-08 ± 1e-08"
    assert pairs["reliable samples, min / mean / max"] == "10 / 30.0 / 90"
    assert carries["reliable samples, min / mean / max"] == "0 / 6.0 / 7"
    assert pairs["of"] == "500"
    assert (pairs["largest parameter"], pairs["distance of the stacked systems"]) == (
        "0.25",
        "0.125",
    )
    assert pairs["paper: reliable samples"] == "9,018 ± 1,606"
    assert pairs["paper: threshold"] == "4.12e-08"
    assert pairs["paper: mean s, mean r"] == "1.95e-08, 1.85e-08"


def ablation(root: Path) -> dict[str, str]:
    return rows(section(read_report(root), "What learning changes")[0])[0]


def test_the_ablation_equals_the_learned_model(tmp_path: Path) -> None:
    for run in range(2):
        keep(tmp_path, 97, run=run)
        keep(tmp_path, 97, run=run, setting="ablation", reliable={}, thresholds={}, distance=None)
    found = ablation(tmp_path)
    assert found["equal?"] == "yes, in every run"
    assert (found["with learning, %"], found["runs in both"]) == ("97.00 ± 0.00", "2")


def test_the_ablation_differs_in_a_run(tmp_path: Path) -> None:
    for run, right in enumerate([97, 95, 90]):
        keep(tmp_path, 97, run=run)
        keep(tmp_path, right, run=run, setting="ablation")
    assert ablation(tmp_path)["equal?"] == "no: runs 1, 2 differ, by up to 7.00 points"


def test_the_ablation_alone(tmp_path: Path) -> None:
    keep(tmp_path, 97, setting="ablation", reliable={}, thresholds={}, distance=None)
    found = ablation(tmp_path)
    assert (found["with learning, %"], found["equal?"]) == ("–", "–")


def test_quick_runs_and_trials_are_apart(tmp_path: Path) -> None:
    keep(tmp_path, 99)
    keep(tmp_path / "quick", 50, quick=True, scale="quick")
    keep(tmp_path / "epochs-3", 60, trial=True, scale="epochs-3")
    report = read_report(tmp_path)
    assert ours(report)[0]["accuracy, %"] == "99.00"
    table = section(report, "Quick runs and trials")[0]
    assert [(r["trial"], r["accuracy, %"]) for r in rows(table)] == [
        ("epochs-3", "60.00"),
        ("quick", "50.00"),
    ]
    assert "not comparable" in table.caption
    assert "All 1 records together" in " ".join(report.sections[0].paragraphs)


def test_only_quick_runs(tmp_path: Path) -> None:
    keep(tmp_path / "quick", 50, quick=True, scale="quick")
    report = read_report(tmp_path)
    titles = [s.title for s in report.sections]
    assert titles == ["How to read this", "Quick runs and trials", "Where the records come from"]
    assert "Pi-NeSy-1, paper" not in markdown(report)


def test_markdown(tmp_path: Path) -> None:
    keep_all(tmp_path)
    text = markdown(read_report(tmp_path))
    lines = text.splitlines()
    assert lines[0] == "# Results of the experiments"
    tables = [i for i, line in enumerate(lines) if line.startswith("| ---")]
    assert len(tables) > 10
    for rule in tables:
        table = takewhile(lambda line: line.startswith("|"), lines[rule - 1 :])
        bare = [line.replace("\\|", "") for line in table]
        assert len(bare) > 2
        assert {line.count("|") for line in bare} == {bare[0].count("|")}
    assert "| **Pi-NeSy-1, ours** | every image labelled |" in text
    assert "| c\\_\\* |" in text
    assert "a \\<processor> & more" in text


def test_the_terminal(tmp_path: Path) -> None:
    keep_all(tmp_path)
    stream = StringIO()
    print_report(read_report(tmp_path), Console(file=stream, width=240))
    text = stream.getvalue()
    for part in ("Sudoku 4x4: accuracy", "DeepProofLog", "symbolic share, %", "yes, in every run"):
        assert part in text
    assert "**" not in text


def test_the_order_of_files_does_not_matter(tmp_path: Path) -> None:
    keep_all(tmp_path / "a")
    keep_all(tmp_path / "b", lambda runs: runs[::-1])
    first, second = (markdown(read_report(tmp_path / name)) for name in "ab")
    assert first == second

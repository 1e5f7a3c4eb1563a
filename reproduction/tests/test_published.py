"""The published figures, against the paper's tables."""

import pytest

from reproduction.published import (
    PI_NESY,
    Figure,
    Result,
    paper_learning,
    paper_result,
    published_results,
)

SIZES = {"addition": (1, 2, 4, 15, 100), "sudoku": (4, 9)}
#: Accuracy, seconds of learning and of inference, memory: as the protocol of the experiments says.
PAPER = [
    (("addition", 1, "normal", "antipignistic"), "99.0±0.1", 1845.62, 0.002, 1353.76),
    (("addition", 2, "normal", "antipignistic"), "97.9±0.3", 1510.01, 0.004, 1209.47),
    (("addition", 4, "normal", "antipignistic"), "96.2±0.5", 1396.77, 0.007, 1047.38),
    (("addition", 15, "normal", "antipignistic"), "86.6±1.3", 1270.12, 0.027, 911.12),
    (("addition", 100, "normal", "antipignistic"), "34.2±4.6", 1211.84, 0.181, 910.22),
    (("addition", 100, "normal", "minimum-specificity"), "35.8±5.5", 1266.96, 0.180, 926.24),
    (("sudoku", 4, "normal", "antipignistic"), "96.8±1.78", 154.39, 0.03, 754.8),
    (("sudoku", 9, "normal", "minimum-specificity"), "74.1±4.50", 8784.21, 0.60, 6715.6),
    (("addition", 15, "low-data", "antipignistic"), "39.3±16.2", 169.70, 0.015, 609.51),
    (("sudoku", 9, "low-data", "antipignistic"), "51.5±0.67", 657.73, 0.48, 1254.5),
    (
        ("addition", 1, "deepsoftlog-cnn", "minimum-specificity"),
        "98.7±0.02",
        4914.52,
        0.002,
        2793.14,
    ),
    (("addition", 100, "deepsoftlog-cnn", "antipignistic"), "29.4±2.84", 1418.69, 0.181, 1160.71),
]


@pytest.mark.parametrize(("place", "printed", "learning", "inference", "memory"), PAPER)
def test_the_papers_results(
    place: tuple[str, int, str, str], printed: str, learning: float, inference: float, memory: float
) -> None:
    found = paper_result(*place)
    assert found is not None
    assert found.learning
    assert found.inference
    assert found.memory
    assert found.printed == printed
    numbers = found.learning.mean, found.inference.mean, found.memory.mean
    assert numbers == (learning, inference, memory)


def by_method(problem: str, setting: str, method: str) -> dict[int, str]:
    return {
        r.size: r.printed
        for r in published_results()
        if (r.problem, r.setting, r.method) == (problem, setting, method)
    }


def test_results_of_others() -> None:
    assert by_method("addition", "normal", "DeepSoftLog") == {
        1: "98.4±0.1",
        2: "96.6±0.3",
        4: "93.5±0.6",
        15: "77.1±1.6",
        100: "25.6±3.4",
    }
    assert by_method("sudoku", "normal", "DeepSoftLog") == {4: "94.2±1.84", 9: "65.0±1.94"}
    assert by_method("addition", "normal", "A-NeSI")[100] == "overflow"
    assert by_method("addition", "normal", "LTN")[4] == "timeout"
    assert by_method("addition", "normal", "DeepProofLog") == {4: "94.0", 15: "80.8", 100: "37.8"}
    assert by_method("addition", "normal", "CTSketch") == {
        1: "98.3",
        2: "96.7",
        4: "92.5",
        15: "74.8",
        100: "23.5",
    }
    assert by_method("addition", "low-data", "DeepSoftLog") == {}


def test_the_paper_has_every_size_in_every_setting() -> None:
    for problem, sizes in SIZES.items():
        settings = ["normal", "low-data"] + ["deepsoftlog-cnn"] * (problem == "addition")
        for setting in settings:
            for transform, method in PI_NESY.items():
                assert list(by_method(problem, setting, method)) == list(sizes)
                for size in sizes:
                    groups = ["c_*", "w_*", "y_*"] if problem == "addition" else ["b_*", "c"]
                    assert list(paper_learning(problem, size, setting, transform)) == groups


def test_all_accuracies_are_percents_with_a_deviation_in_the_papers_tables() -> None:
    for result in published_results():
        if result.accuracy is not None:
            assert 0.0 < result.accuracy.mean < 100.0
            is_cited = result.method not in ("DeepProofLog", "CTSketch")
            assert (result.accuracy.deviation is not None) == is_cited
        else:
            assert result.printed in ("timeout", "overflow")


def test_supervision_and_source() -> None:
    def of(method: str, problem: str = "addition") -> Result:
        return next(r for r in published_results() if (r.method, r.problem) == (method, problem))

    assert of("Pi-NeSy-1").supervision == of("Pi-NeSy-2", "sudoku").supervision
    assert of("Pi-NeSy-1").supervision == "every image labelled"
    assert {of(m).supervision for m in ("LTN", "A-NeSI", "DeepProofLog")} == {"sum only"}
    assert of("CNN", "sudoku").supervision == "validity only"
    assert "published by its authors" in of("DeepProofLog").source
    assert "arXiv:2503.24123" in of("CTSketch").source
    assert of("DeepSoftLog").source == "Maene and De Raedt 2024"
    assert of("Pi-NeSy-1").source == "Baaj and Marquis 2025"
    assert (of("DeepSoftLog").runs, of("DeepProofLog").runs) == (10, None)
    assert all(r.source for r in published_results())


def test_the_ablation_of_the_paper_is_its_normal_setting() -> None:
    place = "addition", 4
    ablation = paper_result(*place, "ablation", "antipignistic")
    assert ablation == paper_result(*place, "normal", "antipignistic")
    assert ablation is not None
    assert paper_result(*place, "better-eye", "antipignistic") is None
    assert paper_learning(*place, "ablation", "antipignistic") == {}


def test_the_appendices() -> None:
    found = paper_learning("addition", 1, "normal", "antipignistic")["c_*"]
    assert found.threshold.mean == 4.12e-8
    assert (found.s.mean, found.r.mean) == (1.95e-8, 1.85e-8)
    assert (found.reliable.mean, found.reliable.deviation) == (9018.20, 1606.28)
    pairs = paper_learning("sudoku", 4, "low-data", "minimum-specificity")["b_*"]
    assert (pairs.threshold.mean, pairs.threshold.deviation) == (0.1034, 0.2992)


@pytest.mark.parametrize(
    ("text", "figure"),
    [
        ("98.7±0.01", Figure(98.7, 0.01, 0.05)),
        ("94.0", Figure(94.0, None, 0.05)),
        ("99.35", Figure(99.35, None, 0.005)),
        ("4.12e-08", Figure(4.12e-8, None, 5e-11)),
        ("10±2", Figure(10.0, 2.0, 0.5)),
    ],
)
def test_figures_as_they_are_printed(text: str, figure: Figure) -> None:
    assert Figure.parse(text) == figure

"""The results that README and the page of experiments show are those of the records and pages."""

import re
from collections import defaultdict
from pathlib import Path
from statistics import mean, median, pstdev

import pytest

pytest.importorskip("torch")

from pinesy.exceptions import DataError
from reproduction.fewest_labels import read_all_runs
from reproduction.groups import RunGroup, grouped
from reproduction.guarantee_tables import draw
from reproduction.guarantees import LEVELS, read_guarantees
from reproduction.pairings import read_pairings
from reproduction.question_tables import images_cell, question_tables, with_tables
from reproduction.records import read_records

ROOT = Path(__file__).parents[2]


def words(name: str) -> str:
    """Return a page as one line."""
    return " ".join((ROOT / name).read_text(encoding="utf-8").split())


README, EXPERIMENTS = words("README.md"), words("docs/experiments.md")
RECORDS = ROOT / "docs" / "results" / "records"
#: By method, what came of each split.
Figures = dict[str, list[dict[str, float]]]


@pytest.fixture(scope="module")
def sums_of_100() -> dict[str, RunGroup]:
    """Return the runs of Addition-100 by setting."""
    groups = grouped(read_records(RECORDS))
    return {g.setting: g for g in groups if (g.problem, g.size) == ("addition", 100)}


def test_what_sums_rest_on(sums_of_100: dict[str, RunGroup]) -> None:
    digits = sums_of_100["normal"].figure("digit_accuracy")
    assert digits is not None
    assert f"{digits.mean:.2f} %" in EXPERIMENTS


def test_tables_are_those_of_the_records() -> None:
    """`python -m reproduction tables` writes them."""
    text = (ROOT / "docs" / "experiments.md").read_text(encoding="utf-8")
    tables = question_tables(RECORDS)
    assert all(f"<!-- records: {name} -->" in text for name in tables)
    assert with_tables(text, tables, "experiments.md") == text


def test_a_table_that_no_records_make_is_refused() -> None:
    page = "<!-- records: many -->\nold\n<!-- end -->"
    with pytest.raises(DataError, match=r"many.*few"):
        with_tables(page, {"few": ""}, "page.md")
    assert "| new |" in with_tables(page, {"many": "| new |\n"}, "page.md")


def test_errors_of_images_are_those_of_the_bootstrap() -> None:
    """The formula of the tables, against the bootstrap over images of `pairings`."""
    records = read_pairings(RECORDS / "pairings" / "addition-100.jsonl")
    deviations = [100 * r["bootstrap"]["deviation"] for r in records if r["setting"] == "normal"]
    formula = images_cell(grouped(read_records(RECORDS)), "normal", "addition", 100)
    assert float(formula.split()[1]) == pytest.approx(mean(deviations), rel=0.1)


def test_coverage(guarantees_at_95: dict[int, Figures]) -> None:
    """Coverage at 95 % of calibrated inputs, and of possibilities as they are."""
    splits = guarantees_at_95[100]
    calibrated = [100 * split["covered"] for split in splits["inputs, unit sample"]]
    plain = [100 * split["covered"] for split in splits["possibilities as they are"]]
    assert f"| {mean(calibrated):.1f} %, calibrated; mean of {len(calibrated)} splits |" in README
    assert f"{mean(plain):.1f} %, not calibrated" in README
    assert "were each calibrated on 50 sums" in README
    assert f"standard deviation of {pstdev(calibrated):.1f}" in README
    assert "the network learned for 3 epochs" in README
    sums = [record for record in read_guarantees(RECORDS) if record["problem"] == "addition"]
    assert {record["network"]["epochs"] for record in sums} == {3}
    sizes = {name: median(split["median"] for split in splits[name]) for name in splits}
    assert sizes["inputs, unit sample"] > 1e15
    assert sizes["possibilities as they are"] == pytest.approx(700, rel=0.1)
    assert (
        "no set holds one answer, and half hold more than 10^15 (not calibrated: some 700)"
        in README
    )
    assert {split["single"] for split in splits["inputs, unit sample"]} == {0.0}
    single = mean(100 * split["single"] for split in guarantees_at_95[4]["inputs, unit sample"])
    assert f"Of 4-digit sums, {single:.1f} % of the sets at 95 % hold one answer" in README


@pytest.fixture(scope="module")
def guarantees_at_95() -> dict[int, Figures]:
    """Return the figures of sums at 95 %, by digits and method: one for each split."""
    level = LEVELS.index(0.95)
    figures: dict[int, Figures] = defaultdict(lambda: defaultdict(list))
    for record in read_guarantees(RECORDS):
        if record["problem"] == "addition":
            for method, by_level in record["ways"].items():
                figures[record["size"]][method].append(by_level[level])
    return figures


#: A page, figures that it gives, and how README says them.
FIGURES = [
    (
        "docs/results/tabular.md",
        r"On (?P<tables>\d+) real tables that no setting was chosen on"
        r".*? on (?P<right>[\d.]+) per cent"
        r".*?\((?P<ebm>\S+ ± \S+) points against EBM, (?P<both>\d+) of these"
        r".*?; (?P<forest>[^;]+) points against a random forest\), with (?P<lines>\d+) lines",
        "{tables} tables that no setting was chosen on | {right} %, by {lines} readable lines "
        "| points ahead of EBM: {ebm} ({both} tables), of a random forest: {forest} |",
    ),
    (
        "docs/audit.md",
        r"wrong in (?P<wrong>\d+ of 2,500) samples .*?found among the worst (?P<worst>\d+)"
        r".*?all that follows from it \| [^|]+ \| 0\.(?P<digit>\d\d)"
        r".*?digits labelled correctly \| [^|]+ \| 0\.(?P<sum>\d\d)",
        "among the {worst} most suspicious? | {digit} % if a digit is wrong, {sum} % if a sum is |",
    ),
    (
        "docs/audit.md",
        r"small classifier reads (?P<read>[\d.]+ %) of them",
        "a classifier that reads {read} of the digits",
    ),
    (
        "docs/experiments.md",
        r"\| evenodd \| (?P<readings>\d+) \| (?P<labels>[1-9]\d*) \| (?P<runs>\d+) "
        r"\| (?P<concepts>[\d.]+ ± [\d.]+) \|",
        "leave {readings} readings of digits open: how many digits are right with {labels} "
        "labelled images? | {concepts} % ({runs} runs) | without labels:",
    ),
    (
        "docs/experiments.md",
        r"\| 1024 \| reused \| (?P<sums>[\d,]+) \| (?P<runs>\d+) \| (?P<digits>[\d.]+ ± [\d.]+) "
        r"\|[^\n]*?\| 2\.73 \| (?P<theirs>[\d.]+) \|",
        "{sums} sums of 1,024 handwritten digits are the only labels, each image is in 85 of them: "
        "how many digits are read correctly? | {digits} % ({runs} runs) "
        "| {theirs} %, published (CTSketch) |",
    ),
    (
        "docs/speed.md",
        r"batch of 1000 \((?P<batch>[\d.]+ µs) a sample\)"
        r".*?, (?P<torch>[\d.]+) times than in PyTorch; \S+ and (?P<tuned>\S+) times than versions"
        r".*?one sample at a time \((?P<alone>\d+ µs)\) \| \d+ and (?P<one>\d+) times faster; "
        r"\S+ and (?P<one_tuned>\S+) times than tuned",
        "{batch} each in a batch, {alone} alone | exact probabilities in PyTorch: {torch} and "
        "{one} times that, tuned by hand {tuned} and {one_tuned} |",
    ),
]


@pytest.mark.parametrize(("page", "figures", "phrase"), FIGURES)
def test_figures_are_those_of_their_pages(page: str, figures: str, phrase: str) -> None:
    found = re.search(figures, words(page))
    assert found, f"{page} says it in other words"
    assert phrase.format(**found.groupdict()) in README


def test_what_networks_read_without_labels() -> None:
    runs = [run for run in read_all_runs(RECORDS) if (run["task"], run["labels"]) == ("evenodd", 0)]
    shares = sorted(100 * run["test"]["concepts"]["digit"]["accuracy"] for run in runs)
    assert len(shares) == 10
    found = f"at most {shares[7]:.1f} % in eight runs, {shares[8]:.0f} % in two |"
    assert found.endswith(f"{shares[9]:.0f} % in two |")
    assert found in README
    assert f"eight of them read at most {shares[7]:.1f} % of EvenOdd's digits, two" in EXPERIMENTS


def test_the_picture_of_coverage_is_that_of_the_records(tmp_path: Path) -> None:
    draw(read_guarantees(RECORDS), tmp_path / "guarantees.svg")
    kept = (ROOT / "docs" / "pictures" / "guarantees.svg").read_text(encoding="utf-8")
    assert (tmp_path / "guarantees.svg").read_text(encoding="utf-8") == kept


def test_what_is_called_exact_is() -> None:
    """The README says where degrees are upper bounds, as `check` does."""
    assert "upper bounds" in README
    assert "(docs/exactness.md)" in README
    assert "**Exact.**" not in README

"""The report of the experiments: its sections, of paragraphs and tables."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import pandas as pd

from reproduction import guarantee_tables
from reproduction.appendix import (
    ablation_table,
    answers_table,
    environment_table,
    learning_table,
    network_table,
)
from reproduction.groups import RunGroup, grouped
from reproduction.guarantees import read_guarantees
from reproduction.records import read_records, whole_seconds
from reproduction.result_tables import (
    ResultTable,
    accuracy_table,
    cost_table,
    number_text,
    overview_table,
    problem_name,
    trial_table,
)

TITLE: Final = "Results of the experiments"
READING: Final = (
    "Figures are means and standard deviations over the runs (ddof = 0). A sample is right only "
    "if every output is decided, and right.",
    "The paper is Baaj and Marquis 2025, Pi-NeSy: A Possibilistic Neuro-Symbolic Approach. The "
    "results of others are those that its tables cite, but DeepProofLog's and CTSketch's, which "
    "their authors publish. Whether ours is within two of the paper's standard deviations: in "
    'brackets the difference in points, and in deviations (sd); "but by rounding" where it would '
    "be, if the paper's mean were not rounded.",
    "Supervision differs, so that these tables compare systems and not learning under equal "
    "conditions: Pi-NeSy, the paper's and ours, learns from the label of every image, if not said "
    "otherwise; the others learn from the sum alone (Addition), or from whether the puzzle is "
    "valid (Sudoku), as ours do in the settings that begin with answers. The paper "
    "states the supervision of Pi-NeSy only; that of the others is the one these benchmarks were "
    "made for.",
    "Symbolic time is that of transformation, search of thresholds, learning of parameters and "
    "inference; the symbolic share is its part of the wall time of the experiment, each run with "
    "the training of its network and its predictions.",
    "All learning is everything but inference, the network's training included, which is how the "
    "paper's learning times are counted; they and its memory are of a laptop with the integrated "
    "GPU of an Apple M2. Our memory is the peak of the process up to then, whatever it did before, "
    "beside the paper's maximum.",
)
FROM_ANSWERS: Final = (
    "These networks had no labels of images: they had the sum of each sample (Addition), "
    "or whether the puzzle is valid (Sudoku). Several short trainings are tried and one is chosen "
    "by answers for validation; the answers correct what it reads, and the network is trained on "
    "that. Rules are certain, because learning their parameters would need the labels.",
    "The digits of test images, which were not used, tell whether a network calls each digit by "
    "its name (right), takes some for one another (permuted), or several for one (merged).",
)
APPENDIX: Final = (
    "In exact arithmetic the rules of these problems give parameters 0 for every threshold; what "
    "the paper's appendices print near 1e-8 comes from 32-bit floats.",
)
QUICK: Final = (
    "Runs on few images, with few epochs or few samples: they show that everything works, and "
    "say nothing about accuracy.",
)


@dataclass(frozen=True)
class Section:
    """A part of the report: paragraphs, then tables."""

    title: str
    paragraphs: tuple[str, ...] = ()
    tables: tuple[ResultTable, ...] = ()


@dataclass(frozen=True)
class ResultsReport:
    """All sections, and the groups of runs that they are about, trials not among them."""

    sections: tuple[Section, ...]
    groups: tuple[RunGroup, ...]
    title: str = TITLE


def read_report(directory: Path) -> ResultsReport:
    """Return the report of the records under a directory, or raise `DataError`."""
    records_report = make_report(read_records(directory))
    records = read_guarantees(directory)
    if not records:
        return records_report
    text = (*guarantee_tables.READING, guarantee_tables.network_note(records))
    tables = guarantee_tables.guarantee_tables(records)
    section = Section("Answers with a guarantee", text, tables)
    return replace(
        records_report,
        sections=(*records_report.sections[:-1], section, records_report.sections[-1]),
    )


def make_report(records: pd.DataFrame) -> ResultsReport:
    """Return the report of sorted records."""
    is_trial = records["scale"] != ""
    real, trials = records[~is_trial], grouped(records[is_trial])
    groups = grouped(real)
    sections = [Section("How to read this", (*READING, *_share_note(real)))]
    for problem in sorted({g.problem for g in groups}):
        sections += _problem_sections(problem, groups)
    sections += _learning_sections(groups)
    if trials:
        sections.append(Section("Quick runs and trials", QUICK, (trial_table(trials),)))
    tables = environment_table(records), network_table(records)
    sections.append(Section("Where the records come from", (), tables))
    return ResultsReport(tuple(sections), tuple(groups))


def _share_note(records: pd.DataFrame) -> list[str]:
    """Return the sentence about the share of all experiments together."""
    symbolic, total = whole_seconds(records)
    if not total:
        return []
    return [
        f"All {len(records)} records together, each network's training and predictions counted "
        f"once: symbolic {number_text(symbolic)} s of {number_text(total)} s, "
        f"{number_text(100.0 * symbolic / total)} %."
    ]


def _problem_sections(problem: str, groups: Sequence[RunGroup]) -> list[Section]:
    problem_groups = [g for g in groups if g.problem == problem]
    settings = dict.fromkeys(g.setting for g in problem_groups if g.setting != "ablation")
    overviews = tuple(overview_table(problem, setting, problem_groups) for setting in settings)
    sections = [Section(problem.title(), (), overviews)]
    for size in sorted({g.size for g in problem_groups}):
        tables = (
            accuracy_table(problem, size, problem_groups),
            cost_table(problem, size, problem_groups),
        )
        sections.append(Section(problem_name(problem, size), (), tables))
    return sections


def _learning_sections(groups: Sequence[RunGroup]) -> list[Section]:
    tables = answers_table(groups), learning_table(groups), ablation_table(groups)
    titles = "Learning from answers alone", "What learning found", "What learning changes"
    texts = FROM_ANSWERS, APPENDIX, ()
    parts = zip(titles, texts, tables, strict=True)
    return [Section(title, text, (table,)) for title, text, table in parts if table.ours]

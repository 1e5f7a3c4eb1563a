"""The main job on real images: a network reads digits, rules add them and judge Sudokus."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.text import Text

from pinesy import problems
from pinesy._common.files import atomic_text
from pinesy._common.names import column_slices
from pinesy.cli.output import rich_table, verdict_block
from pinesy.display.cards import explained_verdict, panel, verdict_card
from pinesy.display.markup import tag
from pinesy.display.pages import html_page
from pinesy.display.report_parts import card, data_table
from pinesy.guarantees import selective_report
from pinesy.model.neurosymbolic import NeuroSymbolic
from pinesy.problems import ExplainedSum

SEED = 0
#: Images for training; the others are never seen before the end.
N_TRAIN = 4000
EPOCHS = 12
SUMS = (1, 2, 4)
PUZZLES = 20
#: How often the true sum is to be in the set of a guaranteed answer.
LEVEL = 0.95
#: How many of the sums that are decided without review may be wrong.
ERROR = 0.05
#: Grey levels of the pictures in the terminal, from paper to ink.
INK = " .:-=+*#%@"

COLUMNS = ("problem", "samples", "right", "if all digits must be right")
TITLE = "pinesy: a network reads digits, rules reason about them"
STYLE = """
.report .scroll img { max-width: none; }
.digits img { width: 4.5rem; height: 4.5rem; image-rendering: pixelated; margin-right: .4rem; }
"""

Images = npt.NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Pictures:
    """Some images and the digits on them."""

    images: Images
    labels: npt.NDArray[Any]

    def sums(self, k: int) -> tuple[Images, dict[str, Any]]:
        """Return samples of two numbers of `k` digits, and what should be inferred."""
        indices = problems.addition_samples(self.labels, k, np.random.default_rng(SEED + k))
        return self.images[indices], problems.addition_labels(self.labels[indices].astype(np.int64))

    def halves(self) -> "list[tuple[Images, dict[str, Any]]]":
        """Return samples of two digits with their sums: some to calibrate by, and others."""
        x, labels = self.sums(1)
        answers, half = _answers(labels), len(x) // 2
        parts = slice(half), slice(half, None)
        return [(x[part], {n: values[part] for n, values in answers.items()}) for part in parts]


def _answers(labels: dict[str, Any]) -> dict[str, Any]:
    """Return the labels of the digits of sums."""
    return {name: values for name, values in labels.items() if name.startswith("y_")}


def run_image_demo(console: Console, output: Path) -> None:
    """Train a network, learn the rules, test both on other images, and write a page."""
    training, test = split_digits()
    console.rule("1. A small network learns to read digits")
    network, training_line = train_network(training)
    console.print(Text(training_line))
    console.rule("2. Rules add numbers and judge Sudokus, on images that were never seen")
    digit_accuracy = float(
        (network.predict_proba(test.images).argmax(axis=1) == test.labels).mean()
    )
    reading_line = f"{digit_accuracy:.1%} of the {len(test.labels)} digits are read right."
    console.print(Text(reading_line))
    models = {k: adding_model(network, k, training) for k in SUMS}
    rows = [_addition_row(k, model, test, digit_accuracy) for k, model in models.items()]
    rows.append(_sudoku_row(network, test))
    console.print(rich_table(COLUMNS, rows, right=("samples",)))
    guarantee_lines = [_coverage_text(models[1], test), *_decision_texts(models[1], test)]
    for line in guarantee_lines:
        console.print(Text(line), soft_wrap=True)
    console.rule("3. Two sums, looked at closely")
    cases = _cases(models[2], *test.sums(2))
    for case in cases:
        _print_case(console, case)
    with atomic_text(output) as stream:
        stream.write(_html([training_line, reading_line, *guarantee_lines], rows, cases))
    console.print(Text(f"All this with pictures: {output.absolute()}"))


def split_digits() -> tuple[Pictures, Pictures]:
    """Return the training images and the test images."""
    images, labels = problems.digits()
    order = np.random.default_rng(SEED).permutation(len(labels))
    first, second = order[:N_TRAIN], order[N_TRAIN:]
    return Pictures(images[first], labels[first]), Pictures(images[second], labels[second])


def train_network(training: Pictures) -> tuple[Any, str]:
    """Train a network; return it, and a line about the training."""
    from pinesy.nets import DeepSoftLogCNN, NetworkPerception, Recipe

    recipe = Recipe("adamw", 3e-3, "cosine", batch=32, epochs=EPOCHS, t_max=EPOCHS)
    perception = NetworkPerception(DeepSoftLogCNN(10, seed=SEED), recipe, seed=SEED)
    perception.fit(training.images, training.labels)
    seconds = sum(perception.history.seconds) if perception.history else 0.0
    return perception, f"{N_TRAIN} real images, {EPOCHS} epochs: {seconds:.1f} s."


def adding_model(network: Any, k: int, training: Pictures) -> NeuroSymbolic:
    """Return the model for numbers of `k` digits, its rules learned from the training images."""
    inputs = [f"a_{i + 1}" for i in range(2 * k)]
    return NeuroSymbolic(network, problems.addition(k), inputs=inputs).fit(*training.sums(k))


def _addition_row(
    k: int, model: NeuroSymbolic, test: Pictures, digit_accuracy: float
) -> tuple[str, ...]:
    """Return the table row of the addition of numbers of `k` digits."""
    x, labels = test.sums(k)
    score = model.score(x, _answers(labels))
    return f"Addition-{k}", str(len(x)), f"{score:.1%}", f"{digit_accuracy ** (2 * k):.1%}"


def _coverage_text(model: NeuroSymbolic, unseen: Pictures) -> str:
    """Calibrate on one half of the samples; return the coverage on the other as text."""
    (x, known), (new, answers) = unseen.halves()
    model.calibrate(x, answers=known)
    sets = model.predict_set(new, LEVEL)
    pairs = [zip(answers[name].tolist(), sets[name], strict=True) for name in sets]
    covered = np.all([[value in members for value, members in pair] for pair in pairs], axis=0)
    widths = np.prod([sets.sizes[name] for name in sets], axis=0)
    text = (
        f"With a guarantee of {LEVEL:.0%}, by {len(x)} samples of Addition-1 that calibrate: of "
        f"{len(covered)} others {covered.mean():.1%} have the true sum in their set, "
        f"{(widths == 1).mean():.1%} a single sum."
    )
    wide = np.flatnonzero(widths > 1)
    if not len(wide):
        return text
    index = wide[widths[wide].argmin()]
    sums = [10 * ten + unit for ten in sets["y_0"][index] for unit in sets["y_1"][index]]
    return f"{text} One that has not: its sum is in {{{', '.join(map(str, sums))}}}."


def _decision_texts(model: NeuroSymbolic, unseen: Pictures) -> list[str]:
    """Return the promise on decided sums, and one sum that is decided and one that is not."""
    (x, known), (new, answers) = unseen.halves()
    decisions = model.decide(x, known, error=ERROR).decisions(new)
    texts = [model.selective_.promise]
    if decisions.decided.any():
        report = selective_report(decisions, answers).rows[0]
        texts.append(
            f"Of {report.samples} others {report.decided} are decided, {report.wrong} of them "
            f"wrong. One of them: {decisions.text(int(decisions.decided.argmax()))}."
        )
    if not decisions.decided.all():
        least = int(decisions.certainty.argmin())
        texts.append(f"One that is not: {decisions.text(least)}.")
    return texts


def _sudoku_row(network: Any, test: Pictures) -> tuple[str, ...]:
    """Return the table row of Sudokus of four digits."""
    rows = [np.flatnonzero(test.labels == d)[: 4 * PUZZLES] for d in range(4)]
    puzzles = problems.sudoku_samples(np.stack(rows), PUZZLES, np.random.default_rng(SEED))
    rules = problems.sudoku(4)
    cells = [f"a_{i}_{j}" for i in range(1, 5) for j in range(1, 5)]
    model = NeuroSymbolic(lambda x: _first_four(network.predict_proba(x)), rules, inputs=cells)
    score = model.score(test.images[puzzles.images], {"c": puzzles.valid.astype(int)})
    return "Sudoku 4x4", str(len(puzzles.valid)), f"{score:.1%}", ""


def _first_four(p: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the probabilities of 0 to 3, given that it is one of them."""
    four = p[:, :4] + 1e-12
    return np.asarray(four / four.sum(axis=1, keepdims=True))


def _cases(model: NeuroSymbolic, x: Images, labels: dict[str, Any]) -> list[ExplainedSum]:
    rules, names = model.rules_, [str(name) for name in model.inputs or ()]
    degrees = model.evidence(x)
    evidence = {name: degrees[:, part] for name, part in column_slices(rules.inputs).items()}
    images = {name: x[:, i] for i, name in enumerate(names)}
    return problems.explained_sums(rules, evidence, labels, images)


def _print_case(console: Console, case: ExplainedSum) -> None:
    """Print a sum: its images, the result, and the explanation."""
    console.print(Text(case.title, style="bold"))
    console.print(Text(images_text(np.stack(list(case.images.values())))), soft_wrap=True)
    console.print(Text(case.summary))
    console.print(Text(verdict_block(explained_verdict(case.explanation))))
    console.print(Text(case.explanation.text(depth=2, limit=2)), soft_wrap=True)
    if case.why_not:
        console.print(Text(f"Why not the true digit: {case.why_not}"), soft_wrap=True)


def images_text(images: Images) -> str:
    """Return images of digits as text, beside each other."""
    small = images.astype(float).reshape(len(images), 14, 2, 28).mean(axis=2)
    levels = np.rint(small / 255 * (len(INK) - 1)).astype(int)
    return "\n".join(
        "  ".join("".join(INK[v] for v in picture[row]) for picture in levels) for row in range(14)
    )


def _html(facts: Iterable[str], rows: Iterable[Sequence[str]], sums: Iterable[ExplainedSum]) -> str:
    """Return the HTML page: a verdict, facts, the table of results, and explained sums."""
    sums = list(sums)
    first = [panel(verdict_card(explained_verdict(sums[0].explanation)))] if sums else []
    paragraphs = [tag("p", fact) for fact in facts]
    results = card("Images that were never seen", data_table(COLUMNS, rows), *paragraphs)
    return html_page(
        TITLE,
        "\n".join([*first, results, *(explained.to_html() for explained in sums)]),
        STYLE,
    )

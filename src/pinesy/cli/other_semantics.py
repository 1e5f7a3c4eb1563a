"""What ``--semantics`` does: other semantics than the possibilistic one, on the command line."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from pinesy._common.names import column_slices
from pinesy._common.validation import FloatArray
from pinesy.cli import options
from pinesy.cli.output import ResultRow, degree_text
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.semantics_comparison import SemanticsComparison, compare_semantics
from pinesy.rules.attributes import Attribute
from pinesy.rules.syntax.writer import show_value
from pinesy.samples import Batch, value_texts
from pinesy.semantics.semirings import SEMANTICS, semantics_name
from pinesy.transforms import antipignistic_inverse

InferSemantics = Annotated[
    str,
    typer.Option(
        "--semantics",
        metavar="NAME",
        help="possibilistic, or of probabilities: probabilistic, mpe (most probable explanation) "
        "or goedel.",
    ),
]
ComparedSemantics = Annotated[
    list[str] | None,
    typer.Option(
        "--semantics",
        metavar="NAME",
        help="Compare semantics, for data that are probabilities (repeatable): all, or "
        "possibilistic, probabilistic, mpe, goedel.",
    ),
]


def probable(transform: options.TransformName) -> options.TransformName:
    """Return how probabilities are read, or refuse another transformation.

    What a file says becomes possibilities by a method that can be inverted: a value is certain
    then, and where nothing is said all are equally probable.
    """
    if transform == "minimum-specificity":
        raise typer.BadParameter(
            "--semantics takes probabilities as they are; leave --transform out",
            param_hint="--transform",
        )
    return "antipignistic"


def probabilities(inputs: Sequence[Attribute], evidence: FloatArray) -> dict[str, FloatArray]:
    """Return the probabilities of inputs that were read as `probable` says."""
    spans = column_slices(inputs)
    return {name: antipignistic_inverse(evidence[:, span]) for name, span in spans.items()}


def compared(cascade: Cascade, samples: Batch, names: Sequence[str]) -> SemanticsComparison:
    """Return a table of semantics, for samples with their right values."""
    chosen = SEMANTICS if "all" in names else [semantics_name(name) for name in names]
    p = probabilities(cascade.inputs, samples.evidence)
    return compare_semantics(cascade, p, samples.targets, semantics=chosen)


@dataclass
class WeighedRow(ResultRow):
    """What one sample's worlds weigh, by output; `number` counts the samples from 1."""

    attributes: Sequence[Attribute]
    weights: tuple[list[float], ...]
    bests: tuple[Any, ...]
    number: int
    ids: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return the ids and the outputs by name; weights of 0 are left out."""
        return self.ids | {
            a.name: {
                "best": None if best is None else texts[a.position(best)],
                "weights": {t: w for t, w in zip(texts, weights, strict=True) if w > 0.0},
            }
            for a, texts, weights, best in self._outputs()
        }

    def _outputs(self) -> Iterator[tuple[Attribute, list[str], list[float], Any]]:
        for a, weights, best in zip(self.attributes, self.weights, self.bests, strict=True):
            yield a, value_texts(a), weights, best

    def titles(self) -> list[str]:
        """Return those of the ids, then the name and one for each value, of each output."""
        titles = list(self.ids)
        for a in self.attributes:
            titles += [a.name, *(f"{a.name}={text}" for text in value_texts(a))]
        return titles

    def cells(self) -> list[Any]:
        """Return the ids; the best value and all weights, of each output."""
        cells: list[Any] = ["" if entry is None else entry for entry in self.ids.values()]
        for a, texts, weights, best in self._outputs():
            cells += ["" if best is None else texts[a.position(best)], *weights]
        return cells

    def lines(self) -> Iterator[tuple[str, ...]]:
        """Yield a line for each output."""
        number = ", ".join(map(str, self.ids.values())) or f"{self.number:,}"
        for a, _, weights, best in self._outputs():
            shown = "-" if best is None else show_value(best)
            yield number, a.name, shown, degree_text(max(weights))
            number = ""


def weighed_rows(
    cascade: Cascade,
    inputs: Sequence[Attribute],
    outputs: Sequence[Attribute],
    semantics: str,
    samples: Batch,
    numbers: Iterator[int],
) -> Iterator[WeighedRow]:
    """Yield what is inferred for each sample."""
    p: Any = probabilities(inputs, samples.evidence)
    found: Any = cascade.infer(p, [a.name for a in outputs], semantics=semantics)  # type: ignore[call-overload]
    weights = zip(*(found[a.name].weights.tolist() for a in outputs), strict=True)
    bests = zip(*(found[a.name].best.tolist() for a in outputs), strict=True)
    for each, best, ids in zip(weights, bests, options.ids_by_sample(samples), strict=True):
        yield WeighedRow(outputs, each, best, next(numbers), ids)

"""A semantics of rules as one object: registered, and taken by its name everywhere."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, Literal

import numpy as np

from pinesy._common.validation import FloatArray, suggestion
from pinesy.exceptions import DomainError
from pinesy.semantics.semirings import Semiring
from pinesy.transforms import probabilities

#: The names of the semantics of weights that the library has itself.
Other = Literal["probabilistic", "most probable explanation", "mpe", "goedel"]
#: Packages that bring semantics name them under this group of entry points.
ENTRY_POINTS = "pinesy.semantics"


@dataclass(frozen=True, eq=False)
class Semantics:
    """A way to read rules: what evidence and rules it takes, and what it infers.

    Register it (`register_semantics`), and `infer`, layers, the comparison of semantics and the
    command line take it by its name. Where a part is missing they refuse it, and name the part.

    Attributes
    ----------
    name : such as ``"probabilistic"``
    semiring : how the parts of a world are multiplied, and the weights of worlds added
    weights : a function of the rule sets (`RuleUnit`, in an order of inference), the degrees
        ``(n, values)`` of the inputs by name, and the names of the outputs, that returns the
        weights ``(n, values)`` of each output by name; None if tables of the rules are multiplied
        and summed out (`pinesy.semantics.elimination`)
    reads : what the degrees of inputs and the weights of outputs are
    takes_uncertain : whether the parameters of rules may be other than 0 and 1
    layer : a function of rules, outputs and ``transform=`` that returns a torch module from
        probabilities to weights with `inputs` and `outputs`, or ``"module:name"`` of one; not
        needed if tables are summed out
    is_compiled : whether the compiled program of max and min infers, and returns `Possibility`;
        only the possibilistic semantics
    aliases : shorter names

    Examples
    --------
    >>> as_semantics("mpe")
    Semantics('most probable explanation')
    """

    name: str
    semiring: Semiring
    weights: Callable[..., Any] | None = None
    reads: Literal["probabilities", "possibilities"] = "probabilities"
    takes_uncertain: bool = False
    layer: Callable[..., Any] | str | None = None
    is_compiled: bool = False
    aliases: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in (self.name, *self.aliases):
            if not (isinstance(name, str) and name and name.isprintable()):
                raise DomainError(f"the name of a semantics is {name!r:.60}; give a text")
        if self.reads not in ("probabilities", "possibilities"):
            raise DomainError(
                f"semantics {self.name!r}: reads is {self.reads!r:.60}; expected 'probabilities' "
                "or 'possibilities'"
            )
        if self.takes_uncertain and self.sums_out:
            raise DomainError(
                f"semantics {self.name!r}: tables hold certain rules only; for uncertain ones give "
                "weights, a function of rule sets, inputs and outputs"
            )

    def __repr__(self) -> str:
        return f"Semantics({self.name!r})"

    @property
    def sums_out(self) -> bool:
        """Whether tables of the rules are multiplied and summed out, in arrays and tensors."""
        return self.weights is None and not self.is_compiled

    def layer_part(self) -> Callable[..., Any]:
        """Return the function that makes a layer, or raise `DomainError` that there is none."""
        if self.layer is None:
            raise DomainError(
                f"the semantics {self.name!r} has no layer: register it with layer=..., or train "
                "in another semantics"
            )
        if not isinstance(self.layer, str):
            return self.layer
        module, _, function = self.layer.partition(":")
        return getattr(import_module(module), function)  # type: ignore[no-any-return]

    def probabilities(self, weights: FloatArray) -> FloatArray:
        """Return weights (..., values) as probabilities.

        Possibilities are divided by their height where rules contradict each other, and inverted by
        the antipignistic method. Other weights are divided by their sum; without any weight, all
        values are equally probable.
        """
        if self.reads == "possibilities":
            return probabilities(weights)
        total = weights.sum(axis=-1, keepdims=True)
        shares = np.full_like(weights, 1.0 / weights.shape[-1])
        divided: FloatArray = np.divide(weights, total, out=shares, where=total > 0.0)
        return divided


#: By name, in the order in which they are compared.
SEMANTICS: dict[str, Semantics] = {}


def register_semantics(semantics: Semantics) -> Semantics:
    """Make a semantics known by its name everywhere; return it.

    Raises
    ------
    DomainError : if another semantics has the name
    """
    for name in (semantics.name, *semantics.aliases):
        if _known(name) not in (None, semantics):
            raise DomainError(f"there is a semantics {name!r} already")
    SEMANTICS[semantics.name] = semantics
    return semantics


def as_semantics(semantics: object) -> Semantics:
    """Return a registered semantics, given as such or by its name.

    Names that are not registered are looked for among the entry points of installed packages.
    """
    registered = _known(semantics)
    if registered is None and isinstance(semantics, str):
        for entry in entry_points(group=ENTRY_POINTS):
            if entry.name not in SEMANTICS:
                register_semantics(entry.load())
        registered = _known(semantics)
    if registered is None:
        cure = suggestion(semantics, SEMANTICS)
        if isinstance(semantics, Semantics):  # results name their semantics
            cure = "; register it with register_semantics"
        raise DomainError(f"unknown semantics {semantics!r:.60}{cure}")
    return registered


def _known(semantics: object) -> Semantics | None:
    for known in SEMANTICS.values():
        is_name = isinstance(semantics, str) and semantics in (known.name, *known.aliases)
        if semantics is known or is_name:
            return known
    return None


for _semantics in (
    Semantics(
        "possibilistic",
        Semiring(adds=False, multiplies=False),
        reads="possibilities",
        takes_uncertain=True,
        layer="pinesy.nets.possibilistic_layer:PossibilisticLayer",
        is_compiled=True,
    ),
    Semantics("probabilistic", Semiring(adds=True, multiplies=True)),
    Semantics("most probable explanation", Semiring(adds=False, multiplies=True), aliases=("mpe",)),
    Semantics("goedel", Semiring(adds=False, multiplies=False)),
):
    register_semantics(_semantics)

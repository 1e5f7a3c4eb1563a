"""Semantics of rules, registered by name."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

import numpy as np

from pinesy._common.validation import FloatArray, suggestion
from pinesy.exceptions import DomainError
from pinesy.semantics.semirings import Semiring
from pinesy.transforms import probabilities

#: The names of the built-in semantics other than the possibilistic one.
Other = Literal["probabilistic", "most probable explanation", "mpe", "goedel"]
#: The entry point group of semantics in other packages.
ENTRY_POINTS = "pinesy.semantics"


@dataclass(frozen=True, eq=False)
class Semantics:
    """A semantics of rules: the evidence and rules it takes, and the weights it infers.

    Register it (`register_semantics`), and `infer`, layers, the comparison of semantics and the
    command line accept its name. Where a function is missing they raise an error that names it.

    Attributes
    ----------
    name : such as ``"probabilistic"``
    semiring : the product of the factors of a world, and the sum over worlds
    weights : a function of the rule sets (`RuleUnit`, in topological order), the degrees
        ``(n, values)`` of the inputs by name, and the names of the outputs, that returns the
        weights ``(n, values)`` of each output by name; None for variable elimination
        (`pinesy.semantics.elimination`)
    reads : whether degrees of inputs and weights of outputs are probabilities or possibilities
    takes_uncertain : whether the parameters of rules may be other than 0 and 1
    layer : a function of rules, outputs and ``transform=`` that returns a torch module from
        probabilities to weights with `inputs` and `outputs`, or ``"module:name"`` of one; not
        needed for variable elimination
    is_compiled : whether the compiled program of min and max infers, and returns `Possibility`;
        only for the possibilistic semantics
    aliases : other names

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
        """Whether weights are computed by variable elimination, in arrays and tensors."""
        return self.weights is None and not self.is_compiled

    def layer_function(self) -> Callable[..., Any]:
        """Return the function that creates a layer; `DomainError` if there is none."""
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

        Possibilities are divided by their height and transformed by `antipignistic_inverse`. Other
        weights are divided by their sum. If all weights are 0, the probabilities are uniform.
        """
        if self.reads == "possibilities":
            return probabilities(weights)
        total = weights.sum(axis=-1, keepdims=True)
        shares = np.full_like(weights, 1.0 / weights.shape[-1])
        divided: FloatArray = np.divide(weights, total, out=shares, where=total > 0.0)
        return divided


#: The registered semantics by name, in the order of comparisons.
SEMANTICS: dict[str, Semantics] = {}


def register_semantics(semantics: Semantics) -> Semantics:
    """Make a semantics known by its name everywhere; return it.

    Raises
    ------
    DomainError : if another semantics has the name
    """
    for name in (semantics.name, *semantics.aliases):
        if _find(name) not in (None, semantics):
            raise DomainError(f"there is a semantics {name!r} already")
    SEMANTICS[semantics.name] = semantics
    return semantics


def as_semantics(semantics: object) -> Semantics:
    """Return a registered semantics, given as an object or by its name.

    Unknown names are looked up in the entry points of installed packages.
    """
    registered = _find(semantics)
    if registered is None and isinstance(semantics, str):
        from importlib.metadata import entry_points  # slow to import

        for entry in entry_points(group=ENTRY_POINTS):
            if entry.name not in SEMANTICS:
                register_semantics(entry.load())
        registered = _find(semantics)
    if registered is None:
        cure = suggestion(semantics, SEMANTICS)
        if isinstance(semantics, Semantics):  # results name their semantics
            cure = "; register it with register_semantics"
        raise DomainError(f"unknown semantics {semantics!r:.60}{cure}")
    return registered


def _find(semantics: object) -> Semantics | None:
    """Return a registered semantics, or None."""
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

"""What if: a live widget for notebooks, in which inputs are moved and results follow."""

from collections.abc import Hashable, Iterable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from pinesy._common.markup import cut
from pinesy._common.names import column_slices, name_of
from pinesy._common.validation import FloatArray, check_known, is_iterable
from pinesy.engine.evidence import Evidence
from pinesy.engine.program import Inference
from pinesy.exceptions import DataError, PinesyError, needing
from pinesy.rulebase.cascade import Cascade, Outputs, as_cascade
from pinesy.rulebase.cascade_evidence import evidence_rows
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.possibility import Possibility
from pinesy.rules.syntax.writer import show_value
from pinesy.rules.views import certainties, most_possible

#: Inputs and results that are shown, and values that have a slider each.
MOST, SLIDERS = 40, 30


def what_if(
    rules: Cascade | RuleSet,
    evidence: Evidence | None = None,
    outputs: Outputs = None,
    *,
    change: Iterable[str | Attribute] | None = None,
) -> "WhatIf":
    """Return a widget for a notebook: move the inputs, and see what is inferred.

    It needs anywidget (``pip install 'pinesy[widget]'``). Python infers, so that degrees are those
    of `Cascade.infer`, to the last bit.

    Parameters
    ----------
    evidence : the sample to begin with, as `infer` takes it; by default nothing is known
    outputs : what to infer, as `infer` takes it
    change : the inputs that can be moved, by default the first 40; the others stay as they are
    """
    cascade = as_cascade(rules)
    return WhatIf(cascade, evidence, outputs, change)


class WhatIf:
    """A sample that is moved by hand, and what follows from it.

    Attributes
    ----------
    widget : the widget of anywidget that is shown
    """

    def __init__(
        self,
        rules: Cascade,
        evidence: Evidence | None,
        outputs: Outputs,
        change: Iterable[str | Attribute] | None,
    ) -> None:
        make = _widget_class()  # first: it says what to install
        self._program = rules.compile(outputs)
        inputs = self._program.inputs
        self._slices = column_slices(inputs)
        self._row = np.ones(sum(len(a.domain) for a in inputs))
        if evidence is not None:
            rows = evidence_rows(rules, evidence, inputs)
            if rows.is_batch:
                raise DataError("what_if is about one sample; got a batch")
            self._row = rows.block(0, 1)[0].copy()
        self._moved = _chosen(inputs, change)
        self._result = self._program.infer(self._row)
        self.widget = make(
            inputs=[_described(a) for a in self._moved],
            degrees=[self._row[self._slices[a.name]].tolist() for a in self._moved],
            results=_results(self._result),
        )
        self.widget.observe(self._follow, "degrees")

    def _follow(self, change: Any) -> None:
        """Infer from what was moved; say what is wrong with it, if something is."""
        row = self._row.copy()
        try:
            for attribute, degrees in zip(self._moved, change["new"], strict=True):
                whole = np.asarray(degrees, dtype=np.float64).reshape(len(attribute.domain))
                row[self._slices[attribute.name]] = whole
            self._result = self._program.infer(row)
        except (PinesyError, TypeError, ValueError) as error:  # of a page, anything may come
            self.widget.problem = cut(str(error))
            return
        self._row = row
        self.widget.set_trait("problem", "")
        self.widget.set_trait("results", _results(self._result))

    @property
    def result(self) -> Inference:
        """What is inferred from the inputs as they are now."""
        return self._result

    @property
    def evidence(self) -> dict[str, dict[Hashable, float]]:
        """The inputs as they are now: evidence, for `explain`, `why_not` and the others."""
        return {
            a.name: Possibility(a, self._row[self._slices[a.name]]).to_dict()
            for a in self._program.inputs
        }

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return self.widget._repr_mimebundle_(**options)

    def __repr__(self) -> str:
        return f"WhatIf({self._result!r})"


@cache
def _widget_class() -> Any:
    """Return the class of widgets, or say what to install."""
    with needing("widget", "what_if needs"):
        base, traits = import_module("anywidget").AnyWidget, import_module("traitlets")
    content = {name: traits.List().tag(sync=True) for name in ("inputs", "degrees", "results")}
    script = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
    said = traits.Unicode("").tag(sync=True)
    own = {"__module__": __name__, "_esm": script, "problem": said}
    return type("WhatIfWidget", (base,), own | content)


def _chosen(
    inputs: tuple[Attribute, ...], change: Iterable[str | Attribute] | None
) -> list[Attribute]:
    if change is None:
        return list(inputs[:MOST])
    if isinstance(change, str | Attribute) or not is_iterable(change):
        raise DataError(f"change is {change!r:.60}; give a list of inputs")
    known = {a.name: a for a in inputs}
    names = [name_of(key) for key in change]
    for name in names:
        check_known(name, known, f"{name!r} is no input")
    return [known[name] for name in names]


def _described(attribute: Attribute) -> dict[str, Any]:
    """Return an input for the page: its name, its values, and whether each has a slider."""
    values = [cut(show_value(value), 60) for value in attribute.domain]
    return {"name": cut(attribute.name), "values": values, "sliders": len(values) <= SLIDERS}


def _results(inference: Inference) -> list[dict[str, Any]]:
    return [_bars(inference[name]) for name in list(inference)[:MOST]]


def _bars(pi: Possibility) -> dict[str, Any]:
    """Return the most possible values of a result for the page."""
    shown = most_possible(pi)
    sure: FloatArray = certainties(pi) if pi.normalised else np.zeros(len(pi.degrees))
    return {
        "name": cut(pi.attribute.name),
        "values": [cut(show_value(pi.attribute.domain[i]), 60) for i in shown],
        "possible": pi.degrees[shown].tolist(),
        "certain": sure[shown].tolist(),
        "left": len(pi.degrees) - len(shown),
        "note": "" if pi.decided else cut(pi.verdict),
    }

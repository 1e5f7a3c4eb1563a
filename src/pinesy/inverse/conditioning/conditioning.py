"""The most possible inputs, given what is believed of them and what the rules should infer."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from pinesy._common.validation import FloatArray, suggestion
from pinesy.engine.code import Code
from pinesy.engine.evidence import Evidence, Rows
from pinesy.engine.program import run
from pinesy.exceptions import DataError, UnknownAttributeError
from pinesy.inverse.conditioning.graph import Graph, graph_of
from pinesy.inverse.conditioning.result import Beliefs
from pinesy.inverse.conditioning.sweeping import forest_program, sweep_program
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rulebase.targets import Target, named_targets
from pinesy.rules.attributes import Attribute
from pinesy.rules.possibility import Possibility

#: Where there are loops, samples are swept for this many degrees of theirs at a time.
CHUNK_NUMBERS = 1 << 22

Targets = Mapping[str, Target]
#: The compatibility, and the degrees of each attribute that is wanted.
Joint = tuple[FloatArray, dict[str, FloatArray]]


def condition(
    cascade: Cascade | RuleSet,
    inputs: Evidence,
    targets: Mapping[Any, Any],
    attributes: Iterable[str | Attribute] | None = None,
) -> Beliefs:
    """Return the most possible distributions that fit the targets, given the current inputs.

    The joint distribution of all attributes is the min of three things: the input distributions,
    what each rule set says of its output for crisp inputs, and the targets,

    ``c(x) = min(min_i pi_i(x_i), min_sets pi*(x_b | x_inputs), min_b target_b(x_b))``.

    An attribute's distribution is the projection of `c` by max, divided by the largest degree of
    `c`. Messages of max and min pass along the graph of attributes and rule sets: two sweeps give
    the exact result if it is a forest, as in Addition; where there are loops, sweeps go on until
    nothing changes, which gives an upper bound of every projection.

    Parameters
    ----------
    inputs : the input distributions of one sample or a batch, as `Cascade.infer` takes them
    targets : what should be inferred, for any attributes that rules use: a value or a
        distribution; for a batch one value or distribution a sample (see `Target.of`)
    attributes : those wanted, by default the inputs of the cascade

    Notes
    -----
    The messages of both sweeps are compiled into one program of min and max, once for each set of
    target names, that runs on blocks of samples as inference does.

    Examples
    --------
    >>> from pinesy import antipignistic
    >>> from pinesy.problems import addition
    >>> sees = {"a_1": antipignistic({3: 0.8, 8: 0.2}), "a_2": antipignistic({4: 0.9, 9: 0.1})}
    >>> given = condition(addition(1), sees, {"y_0": 1, "y_1": 2})  # their sum is 12
    >>> given
    Beliefs(a_1, a_2; compatibility 0.4, exact)
    >>> given["a_1"], given["a_2"]
    (Possibility(a_1, {8: 1, 3: 0.5, ...}), Possibility(a_2, {4: 1, 9: 0.5, ...}))
    """
    cascade = as_cascade(cascade)
    graph = graph_of(cascade)
    rows = _rows(cascade, inputs)
    wanted = _wanted(graph, cascade.inputs if attributes is None else attributes)
    only = cascade.outputs[0] if len(cascade.outputs) == 1 else None
    marks = _targets(graph, only, targets, rows)
    project = _projections if graph.is_forest else _bounds
    compatibility, joint = project(graph, rows, marks, wanted)
    found = {n: Possibility(graph.attributes[n], _one(d, rows)) for n, d in joint.items()}
    return Beliefs(found, _one(compatibility, rows), graph.is_forest)


def _projections(graph: Graph, rows: Rows, targets: Targets, wanted: list[str]) -> Joint:
    """Run the program of a graph without loops, which is kept with the graph."""
    key = (tuple(targets), tuple(wanted))
    if key not in graph.programs:
        graph.programs[key] = forest_program(graph, rows.attributes, *key)
    code = graph.programs[key]
    arrays = [*rows.arrays, *(target.distributions for target in targets.values())]
    out = run(code, Rows(code.inputs, arrays, rows.n, rows.is_batch))
    return out[0], _split(out[1:].T, [graph.attributes[name] for name in wanted])


def _bounds(graph: Graph, rows: Rows, targets: Targets, wanted: list[str]) -> Joint:
    """Sweep until nothing falls; it ends, for degrees are copies of finitely many numbers."""
    _check_degrees(rows)
    if () not in graph.programs:
        graph.programs[()] = sweep_program(graph)
    code = graph.programs[()]
    attributes = list(graph.attributes.values())
    compatibility = np.empty(rows.n)
    joint = {name: np.empty((rows.n, len(graph.attributes[name].domain))) for name in wanted}
    width = max(1, CHUNK_NUMBERS // code.n_inputs)
    for start in range(0, rows.n, width):
        part = slice(start, min(start + width, rows.n))
        degrees = _settled(code, _start(graph, rows, targets, part))
        split = _split(degrees, attributes)
        compatibility[part] = np.min([d.max(axis=1) for d in split.values()], axis=0)
        for name, out in joint.items():
            np.minimum(split[name], compatibility[part, None], out=out[part])
    return compatibility, joint


def _settled(code: Code, degrees: FloatArray) -> FloatArray:
    """Sweep until no degree falls."""
    while True:
        lower = run(code, Rows(code.inputs, [degrees], len(degrees), True)).T
        if np.array_equal(lower, degrees):
            return degrees
        degrees = np.ascontiguousarray(lower)


def _split(columns: FloatArray, attributes: Sequence[Attribute]) -> dict[str, FloatArray]:
    """Return the columns of each attribute."""
    ends = accumulate(len(a.domain) for a in attributes)
    return {
        a.name: columns[:, end - len(a.domain) : end]
        for a, end in zip(attributes, ends, strict=True)
    }


def _rows(cascade: Cascade, inputs: Evidence) -> Rows:
    """Check the form of the input distributions, as inference does."""
    known = {a.name: a for a in cascade.inputs}
    concluded = frozenset(s.output.name for s in cascade.rule_sets)
    columns = sum(len(a.domain) for a in cascade.inputs)
    return Rows.of(inputs, cascade.inputs, known, concluded, columns)


def _check_degrees(rows: Rows) -> None:
    good = np.ones(rows.n, dtype=np.bool_)
    for degrees in _inputs(rows, slice(0, rows.n)).values():
        good &= ((degrees >= 0.0) & (degrees <= 1.0)).all(axis=1) & (degrees.max(axis=1) == 1.0)
    if not good.all():
        rows.refuse(int(np.argmin(good)))


def _inputs(rows: Rows, part: slice) -> dict[str, FloatArray]:
    """Return the distributions of some samples."""
    return _split(rows.block(part.start, part.stop), rows.attributes)


def _wanted(graph: Graph, attributes: Iterable[str | Attribute]) -> list[str]:
    if isinstance(attributes, str | Attribute):
        raise DataError(f"attributes is {attributes!r}; give a list of attributes or names")
    return [_known(graph, key, "wanted") for key in attributes]


def _known(graph: Graph, key: Any, what: str) -> str:
    """Return the name of an attribute that rules use."""
    name = key.name if isinstance(key, Attribute) else key
    known = graph.attributes.get(name) if isinstance(name, str) else None
    if known is None:
        raise UnknownAttributeError(
            f"{what}: no rule uses {name!r}{suggestion(name, graph.attributes)}"
        )
    if isinstance(key, Attribute) and key != known:
        raise UnknownAttributeError(f"{what}: the rules use {known!r}, not {key!r}")
    return str(name)


def _targets(
    graph: Graph, only: Attribute | None, targets: Mapping[Any, Any], rows: Rows
) -> dict[str, Target]:
    found = {}
    for name, content in named_targets(targets, graph.attributes, only, optional=True).items():
        found[name] = Target.of(content, graph.attributes[name], is_batch=rows.is_batch)
        if len(found[name]) != rows.n:
            raise DataError(
                f"the target of {name!r} has {len(found[name])} samples but the inputs have "
                f"{rows.n}; give one value or one distribution for each sample"
            )
    return found


def _start(graph: Graph, rows: Rows, targets: Targets, part: slice) -> FloatArray:
    """Return what is known of each attribute by itself: its belief, its target, else all 1."""
    attributes = list(graph.attributes.values())
    degrees = np.ones((part.stop - part.start, sum(len(a.domain) for a in attributes)))
    split = _split(degrees, attributes)
    given = [*_inputs(rows, part).items()]
    given += [(name, target[part].distributions) for name, target in targets.items()]
    for name, known in given:
        np.minimum(split[name], known, out=split[name])
    return degrees


def _one(array: FloatArray, rows: Rows) -> Any:
    """Return the array of a batch; of one sample its only row, or number."""
    found = array if rows.is_batch else array[0]
    return found if np.ndim(found) else float(found)

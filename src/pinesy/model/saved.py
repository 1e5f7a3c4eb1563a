"""Neuro-symbolic models in directories.

``neurosymbolic.json`` says how the parts fit together (and which files there are), ``model.json``
holds the rules and what was learned, ``perception-0.safetensors`` and so on what perceptions have
learned, as far as they can be saved.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pinesy._version import __version__
from pinesy.exceptions import DataError
from pinesy.learning import LearningResult, load_model, save_model
from pinesy.model.directory import MANIFEST, OURS, read_manifest, saving, whole, write_manifest
from pinesy.model.pieces import by_name, names
from pinesy.model.views import Savable, View
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.rules_json import load, save

RULES = "model.json"
#: The perception that can be made from its file alone.
NETWORK = "pinesy.nets.perception.NetworkPerception"


@dataclass(frozen=True, eq=False)
class Saved:
    """The parts of a model, apart from its perceptions."""

    cascade: Cascade
    result: LearningResult | None
    transform: str
    inputs: list[str]
    seconds: dict[str, float]


@dataclass(frozen=True)
class _Record:
    """A perception in the manifest: the names of its attributes, its type and its file, if any."""

    attributes: list[str]
    kind: str
    file: str | None

    @property
    def where(self) -> str:
        return f"the perception of {', '.join(self.attributes[:6])} ({self.kind})"


def write(directory: Path, model: Saved, views: tuple[View, ...], *, single: bool) -> None:
    """Save a model; the directory is replaced only once the new one is whole."""
    with saving(directory) as place:
        if model.result is None:
            save(model.cascade, place / RULES)
        else:
            save_model(model.result, place / RULES)
        content = {
            "transform": model.transform,
            "inputs": model.inputs,
            "learned": model.result is not None,
            "seconds": model.seconds,
            "single": single,
            "perceptions": [asdict(_recorded(place, i, view)) for i, view in enumerate(views)],
            "versions": {"pinesy": __version__, "numpy": np.__version__},
        }
        write_manifest(place, content)


def _recorded(place: Path, number: int, view: View) -> _Record:
    file = None
    if isinstance(view.perception, Savable):
        file = f"perception-{number}{view.perception.suffix}"
        if not OURS.fullmatch(file):
            raise DataError(
                f"the perception of {names(view.attributes)} has the suffix "
                f"{view.perception.suffix!r:.60}; it must be empty or like '.safetensors'"
            )
        view.perception.save(place / file)
    return _Record([a.name for a in view.attributes], view.kind, file)


def read(directory: Path, given: object) -> tuple[Saved, Any]:
    """Return the parts of a saved model, and its perception.

    Parameters
    ----------
    given : the perception, or a mapping with some, to use in place of those that were saved or
        could not be; what can be restored takes what was saved
    """
    place = whole(directory)
    manifest = read_manifest(place)
    model, records = _parts(place, manifest)
    if given is None or isinstance(given, Mapping):
        chosen = by_name(given or {}, model.cascade.inputs, "perception", whole=False)
        found = {n: p for record in records for n, p in _perceptions(place, record, chosen).items()}
        return model, found[model.inputs[0]] if manifest["single"] and not chosen else found
    if len(records) > 1:
        raise DataError(
            f"{place}: a model with {len(records)} perceptions; give a dict from attributes to "
            "those that are to be replaced"
        )
    _restore(place, records[0], given)
    return model, given


def _parts(place: Path, manifest: Mapping[str, Any]) -> tuple[Saved, list[_Record]]:
    try:
        learned, inputs = manifest["learned"], list(manifest["inputs"])
        seconds = {str(k): float(v) for k, v in manifest["seconds"].items()}
        records = [_Record(**record) for record in manifest["perceptions"]]
        if not {r.file for r in records} - {None} <= {*manifest["files"]}:
            raise ValueError("the file of a perception is none of those that were saved")
        lists = [inputs, *(record.attributes for record in records)]
        if not all(isinstance(name, str) for part in lists for name in part) or not records:
            raise TypeError("names must be text")
        transform, _ = str(manifest["transform"]), manifest["single"]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise DataError(
            f"{place / MANIFEST}: not of the form it must have: {error!r:.80}"
        ) from None
    result = load_model(place / RULES).result if learned else None
    cascade = load(place / RULES) if result is None else result.cascade
    return Saved(cascade, result, transform, inputs, seconds), records


def _perceptions(place: Path, record: _Record, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the perception of each attribute: the given one, else the saved one."""
    own = {name: given[name] for name in record.attributes if name in given}
    if not own:
        return dict.fromkeys(record.attributes, _made(place, record))
    one = next(iter(own.values()))
    if len(own) == len(record.attributes) and all(other is one for other in own.values()):
        _restore(place, record, one)
    return own


def _restore(place: Path, record: _Record, perception: object) -> None:
    if record.file is not None and isinstance(perception, Savable):
        perception.restore(place / record.file)


def _made(place: Path, record: _Record) -> object:
    if record.file is None:
        raise DataError(
            f"{place}: {record.where} was not saved, because pinesy cannot save such a thing; give "
            "load(directory, perception=...)"
        )
    if record.kind != NETWORK:
        raise DataError(
            f"{place}: pinesy cannot make {record.where}; give load(directory, perception=...) one "
            "of the same form, which takes what was saved"
        )
    from pinesy.nets.perception import NetworkPerception  # not at the top: torch is optional

    return NetworkPerception.load(place / record.file)

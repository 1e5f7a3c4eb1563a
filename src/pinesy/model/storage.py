"""Save and load rules, learned models and neuro-symbolic models: one file each, never pickle.

Rules are ``.rules`` text or JSON, learned models JSON. A neuro-symbolic model is a ``.zip`` file:
``model.json`` holds the rules, what was learned and calibrated, ``perception-0.safetensors`` and so
on what perceptions have learned, as far as they can be saved. The first member,
``neurosymbolic.json``, is the manifest: it says how the others fit together and has the SHA-256 of
each, so that a file that was cut off, changed, mixed up or never written by pinesy is refused. A
file is replaced only once the new one is whole.
"""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from pinesy._common.files import as_path, read_text, writing
from pinesy._common.names import name_of
from pinesy._version import __version__
from pinesy.calibration.calibrated_rules import CalibratedRules
from pinesy.calibration.calibration_file import calibration_content, read_calibration
from pinesy.exceptions import DataError, PinesyError, placed
from pinesy.learning.learning_result import LearningResult
from pinesy.learning.model_file import LearnedRules, model_content, read_model
from pinesy.learning.parameter_estimates import ParameterEstimate
from pinesy.model.archives import MEMBER, RULES, PerceptionRecord, archived, extracted
from pinesy.model.neurosymbolic import NeuroSymbolic
from pinesy.model.perceptions import Savable, View, by_input, names
from pinesy.rulebase.cascade import Cascade, HasRules, as_cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rulebase.rules_json import (
    from_content,
    read_content,
    read_rules,
    to_content,
    write_rules,
)
from pinesy.transforms import as_transform

#: The perception that can be made from its file alone.
NETWORK = "pinesy.nets.network_perception.NetworkPerception"
SUFFIXES = (
    "rules are saved as .rules or .json files, learned models as .json and neuro-symbolic models "
    "as .zip"
)
#: What is wrong with a part of a file that is not as it was written.
DAMAGES = (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError)


def save(
    thing: Cascade
    | RuleSet
    | LearningResult
    | ParameterEstimate
    | LearnedRules
    | CalibratedRules
    | NeuroSymbolic
    | HasRules,
    path: str | os.PathLike[str],
    provenance: Mapping[str, Any] | None = None,
) -> None:
    """Write rules, what was learned or calibrated, or a neuro-symbolic model to a file.

    Parameters
    ----------
    thing : rules, for a ``.rules`` or ``.json`` file; what `learn` or `calibrate` returns or a
        model that was loaded, for a ``.json`` file; or a `NeuroSymbolic`, for a ``.zip`` file. Of
        a `pinesy.estimators.RuleClassifier` the rules are saved, or after `calibrate` the
        calibrated rules. A calibration is saved as counts, without the data. The perceptions of a
        `NeuroSymbolic` are saved if they have ``suffix``, ``save(path)`` and ``restore(path)``, as
        `pinesy.nets.NetworkPerception` has; any other must be given again to `load`. Of a search
        for tolerances only the result is saved.
    path : the file, which is replaced only once the new one is whole
    provenance : of what was learned, facts about the data such as their file and fingerprint;
        anything that JSON can hold. The versions of pinesy, NumPy and Python are added.
    """
    path = as_path(path)
    if isinstance(thing, HasRules):
        rules = thing.get_rules()
        thing = getattr(thing, "calibration_", rules)
    if isinstance(thing, LearnedRules):
        noted = thing.provenance if provenance is None else provenance
        write_json(LearnedRules(thing.result, noted), path)
    elif isinstance(thing, LearningResult | ParameterEstimate):
        write_json(LearnedRules(thing, {} if provenance is None else provenance), path)
    elif provenance is not None:
        raise DataError(
            f"{path}: provenance is noted for what learn returns, or for what was loaded from "
            f"such a file; this is a {type(thing).__name__}"
        )
    elif isinstance(thing, CalibratedRules):
        write_json(thing.learned or thing.rules, path, thing)
    elif isinstance(thing, NeuroSymbolic):
        _save_neurosymbolic(thing, path)
    elif isinstance(thing, Cascade | RuleSet):
        write_rules(as_cascade(thing), path)
    else:
        raise DataError(
            f"{thing!r:.60} cannot be saved; give rules (a RuleSet or a Cascade), what learn or "
            "calibrate returns, a fitted RuleClassifier, or a NeuroSymbolic"
        )


def load(
    path: str | os.PathLike[str], perception: Any = None, *, max_values: int | None = None
) -> Any:
    """Read what `save`, ``pinesy learn`` or ``pinesy calibrate`` wrote, or a file of rules.

    Parameters
    ----------
    perception : of a neuro-symbolic model, the perception, or a dict with some, for those that
        could not be saved. One that can be restored takes the weights that were saved: give a
        network of your own class as ``NetworkPerception(network)``.
    max_values : how many values the attributes of the rules may have together; see `parse`

    Returns
    -------
    thing : a `Cascade` for a file of rules; a `LearnedRules`, with the result of learning and its
        provenance; a `CalibratedRules`; or a `NeuroSymbolic`
    """
    path = as_path(path)
    if path.suffix == ".zip":
        return _load_neurosymbolic(path, perception, max_values)
    if perception is not None:
        raise DataError(
            f"{path}: a perception belongs to a neuro-symbolic model, which is a .zip file"
        )
    if path.suffix not in (".json", ".rules"):
        raise DataError(f"{path}: {SUFFIXES}, not {path.suffix!r}")
    if path.suffix == ".rules":
        return read_rules(path, max_values)
    rules, learned, calibrated = _read_json(path, max_values)
    return calibrated or learned or rules


def load_rules(path: str | os.PathLike[str]) -> Cascade:
    """Return the rules in a file, with the parameters that were learned if some were."""
    path = as_path(path)
    if path.suffix == ".zip":
        with extracted(path) as (_, place):
            return _read_json(place / RULES)[0]
    return _read_json(path)[0] if path.suffix == ".json" else load(path)


# --- neuro-symbolic models -----------------------------------------------------------------------


def _save_neurosymbolic(model: NeuroSymbolic, path: Path) -> None:
    if path.suffix != ".zip":
        raise DataError(f"{path}: {SUFFIXES}, not {path.suffix!r}")
    with archived(path) as (place, content):
        result: LearningResult | ParameterEstimate | None = getattr(model, "result_", None)
        thing = as_cascade(model.rules) if result is None else LearnedRules(result, {})
        write_json(thing, place / RULES, getattr(model, "calibration_", None))
        content["transform"] = as_transform(model.transform).name
        content["inputs"] = model.inputs and [str(name_of(a)) for a in model.inputs]
        content["seconds"] = getattr(model, "seconds_", {})
        content["single"] = not isinstance(model.perception, Mapping)
        views = enumerate(model._views)
        content["perceptions"] = [asdict(_recorded(place, i, view)) for i, view in views]
        content["versions"] = {"pinesy": __version__, "numpy": np.__version__}


def _recorded(place: Path, number: int, view: View) -> PerceptionRecord:
    file = None
    if isinstance(view.perception, Savable):
        file = f"perception-{number}{view.perception.suffix}"
        if not MEMBER.fullmatch(file):
            raise DataError(
                f"the perception of {names(view.attributes)} has the suffix "
                f"{view.perception.suffix!r:.60}; it must be empty or like '.safetensors'"
            )
        view.perception.save(place / file)
    kind = f"{type(view.perception).__module__}.{type(view.perception).__qualname__}"
    return PerceptionRecord([a.name for a in view.attributes], kind, file)


def _load_neurosymbolic(path: Path, given: object, max_values: int | None) -> NeuroSymbolic:
    with extracted(path) as (manifest, place):
        records = manifest["perceptions"]
        rules, learned, calibrated = _read_json(place / RULES, max_values)
        chosen, single = _chosen(path, given, records, rules)
        each = {n: p for r in records for n, p in _perceptions(path, place, r, chosen).items()}
        is_one = single or (manifest["single"] and not chosen)
        perception = each[records[0].attributes[0]] if is_one else each
        options = {name: manifest[name] for name in ("transform", "inputs")}
        with placed(str(path)):
            model = NeuroSymbolic(perception, rules, **options)
        if learned is not None and isinstance(learned.result, LearningResult):
            model.rules_, model.result_, model.search_ = rules, learned.result, None
            model.seconds_ = {str(k): float(v) for k, v in manifest["seconds"].items()}
        if calibrated is not None:
            model.calibration_ = calibrated
        return model


def _chosen(
    path: Path, given: object, records: list[PerceptionRecord], rules: Cascade
) -> tuple[dict[str, Any], bool]:
    """Return the perceptions that are given, by attribute, and whether it is one for all."""
    if given is None or isinstance(given, Mapping):
        return by_input(given or {}, rules.inputs, "perception", every=False), False
    if len(records) > 1:
        raise DataError(
            f"{path}: a model with {len(records)} perceptions; give a dict from attributes to "
            "those that are to be replaced"
        )
    return dict.fromkeys(records[0].attributes, given), True


def _perceptions(
    path: Path, place: Path, record: PerceptionRecord, given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the perception of each attribute: the given one, else the saved one."""
    own = {name: given[name] for name in record.attributes if name in given}
    if not own:
        return dict.fromkeys(record.attributes, _made(path, place, record))
    one = next(iter(own.values()))
    is_whole = len(own) == len(record.attributes) and all(other is one for other in own.values())
    if is_whole and record.file is not None and isinstance(one, Savable):
        one.restore(place / record.file)
    return own


def _made(path: Path, place: Path, record: PerceptionRecord) -> object:
    where = f"the perception of {', '.join(record.attributes[:6])} ({record.kind})"
    if record.file is None:
        raise DataError(
            f"{path}: {where} was not saved, because pinesy cannot save such a thing; give "
            "load(path, perception=...)"
        )
    if record.kind != NETWORK:
        raise DataError(
            f"{path}: pinesy cannot make {where}; give load(path, perception=...) one of the same "
            "form, which takes what was saved"
        )
    from pinesy.nets.network_perception import NetworkPerception  # torch is optional

    return NetworkPerception.load(place / record.file)


def write_json(
    thing: Cascade | LearnedRules,
    path: Path,
    calibration: CalibratedRules | None = None,
) -> None:
    """Write rules, with what was learned and calibrated, to a ``.json`` file."""
    if path.suffix != ".json":
        what = "learned" if calibration is None else "calibrated"
        raise DataError(f"{path}: {what} models are saved as .json files, not {path.suffix!r}")
    content = to_content(thing.cascade if isinstance(thing, LearnedRules) else thing)
    if isinstance(thing, LearnedRules):
        content["learning"] = model_content(thing.result, thing.provenance)
    if calibration is not None:
        content["calibration"] = calibration_content(calibration)
    try:
        text = json.dumps(content, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise DataError(f"the provenance cannot be written as JSON: {error}") from None
    with writing(path) as file:
        file.write(text + "\n")


def _read_json(
    path: Path, max_values: int | None = None
) -> tuple[Cascade, LearnedRules | None, CalibratedRules | None]:
    """Read a ``.json`` file: rules, how they were learned and how calibrated, if they were."""
    text = read_text(path)
    with placed(str(path)):
        content = read_content(text)
        rules = from_content(content, max_values)
        learned = _part(content, "learning", lambda part: read_model(rules, part))
        calibrated = _part(
            content, "calibration", lambda part: read_calibration(rules, part, learned)
        )
        return rules, learned, calibrated


def _part(content: Mapping[str, Any], key: str, read: Callable[[Any], Any]) -> Any:
    """Read a part of a file, if it has it; whatever is wrong with its form is a `DataError`."""
    try:
        return read(content[key]) if key in content else None
    except DAMAGES as error:
        if isinstance(error, PinesyError):  # some are errors of Python too
            raise
        raise DataError(f'"{key}" is not of the form it must have: {error!r}') from None

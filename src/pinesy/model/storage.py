"""Save and load rules, learned models and neuro-symbolic models: one file each, never pickle.

Rules are ``.rules`` text or JSON, learned models JSON. The score card of induced rules is kept with
them: in JSON under ``"card"``, in text as a comment. A neuro-symbolic model is a ``.zip`` file:
``model.json`` holds the rules, what was learned and calibrated, ``perception-0.safetensors`` and so
on what perceptions have learned, as far as they can be saved. The first member,
``neurosymbolic.json``, is the manifest: it says how the others fit together and has the SHA-256 of
each, so that a file that was cut off, changed, mixed up or never written by pinesy is refused. A
file is replaced only once the new one is whole.
"""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any
from warnings import warn

import numpy as np

from pinesy._common.files import as_path, atomic_text, read_text
from pinesy._common.names import name_of
from pinesy._version import __version__
from pinesy.calibration.calibrated_rules import CalibratedRules
from pinesy.calibration.calibration_file import calibration_content, read_calibration
from pinesy.exceptions import DataError, DataWarning, PinesyError, placed
from pinesy.guarantees.decide import SelectiveRules
from pinesy.guarantees.grouped_rules import GroupedRules
from pinesy.induction.points_cascade import CardCascade, card_of
from pinesy.induction.score_card import ScoreCard
from pinesy.learning.learning_result import LearningResult
from pinesy.learning.model_file import LearnedRules, model_content, read_model
from pinesy.learning.parameter_estimates import ParameterEstimate
from pinesy.model.archives import MEMBER, RULES, PerceptionRecord, archived, extracted
from pinesy.model.neurosymbolic import NeuroSymbolic
from pinesy.model.perceptions import Savable, View, mapping_by_input, names
from pinesy.relations.relational_json import (
    is_relational,
    read_relational_rules,
    write_relational_rules,
)
from pinesy.relations.relational_rules import RelationalRules
from pinesy.rulebase.cascade import Cascade, HasRules, as_cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rulebase.rules_json import (
    CARD,
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
    model: Cascade
    | RuleSet
    | LearningResult
    | ParameterEstimate
    | LearnedRules
    | CalibratedRules
    | GroupedRules
    | SelectiveRules
    | NeuroSymbolic
    | RelationalRules
    | HasRules,
    path: str | os.PathLike[str],
    provenance: Mapping[str, Any] | None = None,
) -> None:
    """Write rules, what was learned or calibrated, or a neuro-symbolic model to a file.

    Parameters
    ----------
    model : rules, also relational ones, for a ``.rules`` or ``.json`` file; what `learn`,
        `calibrate` or `decide` returns or a model that was loaded, for a ``.json`` file; or a
        `NeuroSymbolic`, for a ``.zip`` file.
        Of a `pinesy.estimators.RuleClassifier` the rules are saved, with what `calibrate` and
        `decide` added. A calibration is saved as counts, without the data. The perceptions of a
        `NeuroSymbolic` are saved if they have ``suffix``, ``save(path)`` and ``restore(path)``, as
        `pinesy.nets.NetworkPerception` has; any other must be given again to `load`. Of a search
        for tolerances only the result is saved.
    path : the file, which is replaced only once the new one is whole
    provenance : of what was learned, facts about the data such as their file and fingerprint;
        anything that JSON can hold. The versions of pinesy, NumPy and Python are added.
    """
    path = as_path(path)
    if isinstance(model, HasRules):
        rules = model.get_rules()
        calibrated = getattr(model, "calibration_", rules)
        selective: SelectiveRules | None = getattr(model, "selective_", None)
        model = calibrated if selective is None else replace(selective, model=calibrated)
    if isinstance(model, LearnedRules):
        facts = model.provenance if provenance is None else provenance
        write_json(LearnedRules(model.result, facts), path)
    elif isinstance(model, LearningResult | ParameterEstimate):
        write_json(LearnedRules(model, {} if provenance is None else provenance), path)
    elif provenance is not None:
        raise DataError(
            f"{path}: provenance is noted for what learn returns, or for what was loaded from "
            f"such a file; this is a {type(model).__name__}"
        )
    elif isinstance(model, CalibratedRules | GroupedRules | SelectiveRules):
        _save_guaranteed(model, path)
    elif isinstance(model, NeuroSymbolic):
        _save_neurosymbolic(model, path)
    elif isinstance(model, RelationalRules):
        write_relational_rules(model, path)
    elif isinstance(model, Cascade | RuleSet):
        _save_rules(as_cascade(model), path)
    else:
        raise DataError(
            f"{model!r:.60} cannot be saved; give rules (a RuleSet or a Cascade), what learn or "
            "calibrate returns, a fitted RuleClassifier, or a NeuroSymbolic"
        )


def _save_guaranteed(model: CalibratedRules | GroupedRules | SelectiveRules, path: Path) -> None:
    """Write rules with a calibration, with one for every group, or with a threshold."""
    base = model.model if isinstance(model, SelectiveRules) else model
    grouped = base if isinstance(base, GroupedRules) else None
    calibrated = grouped.base if grouped is not None else base
    parts: dict[str, Any] = {} if grouped is None else {"groups": grouped.to_dict()}
    if isinstance(model, SelectiveRules):
        parts["decisions"] = model.to_dict()
    if isinstance(calibrated, CalibratedRules):
        write_json(calibrated.learned or calibrated.rules, path, calibrated, parts)
    else:
        assert isinstance(calibrated, Cascade | LearnedRules)
        write_json(calibrated, path, None, parts)


def _save_rules(cascade: Cascade, path: Path) -> None:
    """Write rules, with the score card if they were induced."""
    card = card_of(cascade)
    if card is None:
        write_rules(cascade, path)
    elif path.suffix == ".json":
        write_json(cascade, path)
    else:
        text = json.dumps(card.to_dict(), separators=(",", ":"))
        write_rules(cascade, path, CARD.removeprefix("# ") + text)


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
    model : a `Cascade` for a file of rules, with the score card if they were induced; a
        `RelationalRules` for rules with variables; a
        `LearnedRules`, with the result of learning and its provenance; a `CalibratedRules`; a
        `SelectiveRules`, whose `model` is one of these; or a `NeuroSymbolic`
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
    if path.suffix == ".json" and is_relational(text := read_text(path)):
        with placed(str(path)):
            return read_relational_rules(text)
    if path.suffix == ".rules":
        return with_card(read_rules(path, max_values), read_text(path), str(path))
    rules, learned, calibrated, selective = _read_json(path, max_values)
    return selective or calibrated or learned or rules


def load_rules(path: str | os.PathLike[str]) -> Cascade:
    """Return the rules in a file, with the parameters that were learned if some were."""
    path = as_path(path)
    if path.suffix == ".zip":
        with extracted(path) as (_, directory):
            return _read_json(directory / RULES)[0]
    if path.suffix == ".json" and not is_relational(read_text(path)):
        return _read_json(path)[0]
    rules = load_propositional(path)
    assert isinstance(rules, Cascade)
    return rules


def load_propositional(path: str | os.PathLike[str]) -> Any:
    """Return what `load` gives, or raise `DataError` for rules with variables."""
    model = load(path)
    if isinstance(model, RelationalRules):
        raise DataError(
            f"{path}: these rules have variables; ask them about a graph of facts, as in pinesy "
            "ask or rules.infer(graph)"
        )
    return model


def with_card(rules: Cascade, text: str, where: str) -> Cascade:
    """Return rules with the score card in their text, if it has one that is theirs.

    A `DataWarning`, which says `where`, tells of one that is not: the rules were edited.
    """
    lines = [line for line in text.splitlines() if line.startswith(CARD)]
    if not lines:
        return rules
    try:
        content = {"card": json.loads(lines[-1].removeprefix(CARD))}
        return CardCascade.of(rules, _part(content, "card", ScoreCard.from_dict))
    except (PinesyError, ValueError, RecursionError) as error:
        warn(
            f"{where}: the score card is left out, since it is not that of the rules: {error}",
            DataWarning,
            stacklevel=3,
        )
        return rules


# --- neuro-symbolic models -----------------------------------------------------------------------


def _save_neurosymbolic(model: NeuroSymbolic, path: Path) -> None:
    if path.suffix != ".zip":
        raise DataError(f"{path}: {SUFFIXES}, not {path.suffix!r}")
    with archived(path) as (directory, content):
        result: LearningResult | ParameterEstimate | None = getattr(model, "result_", None)
        rules = as_cascade(model.rules) if result is None else LearnedRules(result, {})
        calibrated, selective = (getattr(model, n, None) for n in ("calibration_", "selective_"))
        parts = {} if selective is None else {"decisions": selective.to_dict()}
        write_json(rules, directory / RULES, calibrated, parts)
        content["transform"] = as_transform(model.transform).name
        content["inputs"] = model.inputs and [str(name_of(a)) for a in model.inputs]
        content["seconds"] = getattr(model, "seconds_", {})
        content["single"] = not isinstance(model.perception, Mapping)
        views = enumerate(model._views)
        content["perceptions"] = [asdict(_record(directory, i, view)) for i, view in views]
        content["versions"] = {"pinesy": __version__, "numpy": np.__version__}


def _record(directory: Path, index: int, view: View) -> PerceptionRecord:
    """Save a perception, if it can be saved; return its record in the manifest."""
    file = None
    if isinstance(view.perception, Savable):
        file = f"perception-{index}{view.perception.suffix}"
        if not MEMBER.fullmatch(file):
            raise DataError(
                f"the perception of {names(view.attributes)} has the suffix "
                f"{view.perception.suffix!r:.60}; it must be empty or like '.safetensors'"
            )
        view.perception.save(directory / file)
    kind = f"{type(view.perception).__module__}.{type(view.perception).__qualname__}"
    return PerceptionRecord([a.name for a in view.attributes], kind, file)


def _load_neurosymbolic(path: Path, perception: Any, max_values: int | None) -> NeuroSymbolic:
    with extracted(path) as (manifest, directory):
        records: list[PerceptionRecord] = manifest["perceptions"]
        rules, learned, calibrated, selective = _read_json(directory / RULES, max_values)
        is_single = perception is not None and not isinstance(perception, Mapping)
        if is_single and len(records) > 1:
            raise DataError(
                f"{path}: a model with {len(records)} perceptions; give a dict from attributes to "
                "those that are to be replaced"
            )
        if is_single:
            replacing = dict.fromkeys(records[0].attributes, perception)
        else:
            content = perception or {}
            replacing = mapping_by_input(content, rules.inputs, "perception", are_all_needed=False)
        perceptions: dict[str, Any] = {}
        for record in records:
            perceptions |= _perceptions(path, directory, record, replacing)
        is_single = is_single or (manifest["single"] and not replacing)
        perception = perceptions[records[0].attributes[0]] if is_single else perceptions
        options = {name: manifest[name] for name in ("transform", "inputs")}
        with placed(str(path)):
            model = NeuroSymbolic(perception, rules, **options)
        if learned is not None and isinstance(learned.result, LearningResult):
            model.rules_, model.result_, model.search_ = rules, learned.result, None
            model.seconds_ = {str(k): float(v) for k, v in manifest["seconds"].items()}
        if isinstance(calibrated, CalibratedRules):
            model.calibration_ = calibrated
        if selective is not None:
            model.selective_ = replace(selective, model=rules)
        return model


def _perceptions(
    path: Path, directory: Path, record: PerceptionRecord, replacing: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the perception of each attribute: its replacement, else the saved one."""
    new = {name: replacing[name] for name in record.attributes if name in replacing}
    if not new:
        return dict.fromkeys(record.attributes, _saved_perception(path, directory, record))
    first = next(iter(new.values()))
    is_same = len(new) == len(record.attributes) and all(p is first for p in new.values())
    if is_same and record.file is not None and isinstance(first, Savable):
        first.restore(directory / record.file)
    return new


def _saved_perception(path: Path, directory: Path, record: PerceptionRecord) -> object:
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

    return NetworkPerception.load(directory / record.file)


def write_json(
    rules: Cascade | LearnedRules,
    path: Path,
    calibration: CalibratedRules | None = None,
    parts: Mapping[str, Any] | None = None,
) -> None:
    """Write rules, what was learned and calibrated, and further `parts` to a ``.json`` file."""
    if path.suffix != ".json":
        state = "learned" if calibration is None else "calibrated"
        raise DataError(f"{path}: {state} models are saved as .json files, not {path.suffix!r}")
    cascade = rules.cascade if isinstance(rules, LearnedRules) else rules
    content = to_content(cascade)
    if (card := card_of(cascade)) is not None:
        content["card"] = card.to_dict()
    if isinstance(rules, LearnedRules):
        content["learning"] = model_content(rules.result, rules.provenance)
    if calibration is not None:
        content["calibration"] = calibration_content(calibration)
    content |= parts or {}
    try:
        text = json.dumps(content, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise DataError(f"the provenance cannot be written as JSON: {error}") from None
    with atomic_text(path) as file:
        file.write(text + "\n")


def _read_json(
    path: Path, max_values: int | None = None
) -> tuple[
    Cascade, LearnedRules | None, CalibratedRules | GroupedRules | None, SelectiveRules | None
]:
    """Return the rules of a ``.json`` file, and the learned, calibrated and selective rules."""
    text = read_text(path)
    with placed(str(path)):
        content = read_content(text)
        rules = from_content(content, max_values)
        card = _part(content, "card", ScoreCard.from_dict)
        rules = rules if card is None else CardCascade.of(rules, card)
        learned = _part(content, "learning", lambda part: read_model(rules, part))
        calibrated = _part(
            content, "calibration", lambda part: read_calibration(rules, part, learned)
        )
        if calibrated is not None:
            grouped = _part(
                content, "groups", lambda part: GroupedRules.from_dict(calibrated, part)
            )
            calibrated = grouped or calibrated
        base = calibrated or learned or rules
        selective = _part(content, "decisions", lambda part: SelectiveRules.from_dict(base, part))
        return rules, learned, calibrated, selective


def _part(content: Mapping[str, Any], key: str, reader: Callable[[Any], Any]) -> Any:
    """Read an entry of a file, None if it is missing; raise `DataError` for a wrong form."""
    try:
        return reader(content[key]) if key in content else None
    except DAMAGES as error:
        if isinstance(error, PinesyError):  # some are errors of Python too
            raise
        raise DataError(f'"{key}" is not of the form it must have: {error!r}') from None

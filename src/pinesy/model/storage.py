"""Save and load rules, learned models and neuro-symbolic models: one file each, never pickle.

Rules are ``.rules`` text or JSON, learned models JSON. A neuro-symbolic model is a ``.zip`` file:
``model.json`` holds the rules and what was learned, ``perception-0.safetensors`` and so on what
perceptions have learned, as far as they can be saved. The first member, ``neurosymbolic.json``, is
the manifest: it says how the others fit together and has the SHA-256 of each, so that a file that
was cut off, changed, mixed up or never written by pinesy is refused. A file is replaced only once
the new one is whole.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import BadZipFile, ZipFile, ZipInfo

import numpy as np

from pinesy._common.files import writing_bytes
from pinesy._common.names import name_of
from pinesy._version import __version__
from pinesy.exceptions import DataError, PinesyError
from pinesy.learning.estimates import ParameterEstimate
from pinesy.learning.learning_result import LearningResult
from pinesy.learning.model_file import LearnedRules, read_json, write_model
from pinesy.model.neurosymbolic import NeuroSymbolic
from pinesy.model.perceptions import Savable, View, by_input, names
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rulebase.rules_json import read_rules, write_rules
from pinesy.transforms import transform_name

FORMAT, VERSION = "pinesy neuro-symbolic model", 1
MANIFEST, RULES = "neurosymbolic.json", "model.json"
#: The other members of a file.
MEMBER = re.compile(r"model\.json|perception-\d+(\.[\w.-]+)?")
#: The perception that can be made from its file alone.
NETWORK = "pinesy.nets.network_perception.NetworkPerception"
SUFFIXES = (
    "rules are saved as .rules or .json files, learned models as .json and neuro-symbolic models "
    "as .zip"
)


def save(
    thing: Cascade | RuleSet | LearningResult | ParameterEstimate | LearnedRules | NeuroSymbolic,
    path: str | os.PathLike[str],
    provenance: Mapping[str, Any] | None = None,
) -> None:
    """Write rules, what was learned, or a neuro-symbolic model to a file.

    Parameters
    ----------
    thing : rules, for a ``.rules`` or ``.json`` file; what `learn` returns or a model that was
        loaded, for a ``.json`` file; or a `NeuroSymbolic`, for a ``.zip`` file. Its perceptions are
        saved if they have ``suffix``, ``save(path)`` and ``restore(path)``, as
        `pinesy.nets.NetworkPerception` has; any other must be given again to `load`. Of a search
        for tolerances only the result is saved.
    path : the file, which is replaced only once the new one is whole
    provenance : of what was learned, facts about the data such as their file and fingerprint;
        anything that JSON can hold. The versions of pinesy, NumPy and Python are added.
    """
    path = Path(path)
    if isinstance(thing, LearnedRules):
        write_model(thing.result, path, thing.provenance if provenance is None else provenance)
    elif isinstance(thing, LearningResult | ParameterEstimate):
        write_model(thing, path, provenance)
    elif provenance is not None:
        raise DataError(
            f"{path}: provenance is noted for what learn returns, or for what was loaded from "
            f"such a file; this is a {type(thing).__name__}"
        )
    elif isinstance(thing, NeuroSymbolic):
        _save_neurosymbolic(thing, path)
    elif isinstance(thing, Cascade | RuleSet):
        write_rules(as_cascade(thing), path)
    else:
        raise DataError(
            f"{thing!r:.60} cannot be saved; give rules (a RuleSet or a Cascade), what learn "
            "returns, or a NeuroSymbolic"
        )


def load(path: str | os.PathLike[str], perception: Any = None) -> Any:
    """Read what `save` or ``pinesy learn`` wrote, or a file of rules.

    Parameters
    ----------
    perception : of a neuro-symbolic model, the perception, or a dict with some, for those that
        could not be saved. One that can be restored takes the weights that were saved: give a
        network of your own class as ``NetworkPerception(network)``.

    Returns
    -------
    thing : a `Cascade` for a file of rules; a `LearnedRules`, with the result of learning and its
        provenance; or a `NeuroSymbolic`
    """
    path = Path(path)
    if path.suffix == ".zip":
        return _load_neurosymbolic(path, perception)
    if perception is not None:
        raise DataError(
            f"{path}: a perception belongs to a neuro-symbolic model, which is a .zip file"
        )
    if path.suffix not in (".json", ".rules"):
        raise DataError(f"{path}: {SUFFIXES}, not {path.suffix!r}")
    return read_json(path) if path.suffix == ".json" else read_rules(path)


def load_rules(path: str | os.PathLike[str]) -> Cascade:
    """Return the rules in a file, with the parameters that were learned if some were."""
    path = Path(path)
    if path.suffix == ".zip":
        with extracted(path) as (_, place):
            content = read_json(place / RULES)
    else:
        content = load(path)
    return content.cascade if isinstance(content, LearnedRules) else content


# --- neuro-symbolic models -----------------------------------------------------------------------


@dataclass(frozen=True)
class _PerceptionRecord:
    """A perception in the manifest: the names of its attributes, its type and its file, if any."""

    attributes: list[str]
    kind: str
    file: str | None


def _save_neurosymbolic(model: NeuroSymbolic, path: Path) -> None:
    if path.suffix != ".zip":
        raise DataError(f"{path}: {SUFFIXES}, not {path.suffix!r}")
    with archived(path) as (place, content):
        result: LearningResult | ParameterEstimate | None = getattr(model, "result_", None)
        if result is None:
            write_rules(as_cascade(model.rules), place / RULES)
        else:
            write_model(result, place / RULES)
        content["transform"] = transform_name(model.transform)
        content["inputs"] = model.inputs and [str(name_of(a)) for a in model.inputs]
        content["seconds"] = getattr(model, "seconds_", {})
        content["single"] = not isinstance(model.perception, Mapping)
        views = enumerate(model._views)
        content["perceptions"] = [asdict(_recorded(place, i, view)) for i, view in views]
        content["versions"] = {"pinesy": __version__, "numpy": np.__version__}


def _recorded(place: Path, number: int, view: View) -> _PerceptionRecord:
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
    return _PerceptionRecord([a.name for a in view.attributes], kind, file)


def _load_neurosymbolic(path: Path, given: object) -> NeuroSymbolic:
    with extracted(path) as (manifest, place):
        records = manifest["perceptions"]
        content = read_json(place / RULES)
        rules = content.cascade if isinstance(content, LearnedRules) else content
        chosen, single = _chosen(path, given, records, rules)
        each = {n: p for r in records for n, p in _perceptions(path, place, r, chosen).items()}
        is_one = single or (manifest["single"] and not chosen)
        perception = each[records[0].attributes[0]] if is_one else each
        options = {name: manifest[name] for name in ("transform", "inputs")}
        model = NeuroSymbolic(perception, rules, **options)
        if isinstance(content, LearnedRules) and isinstance(content.result, LearningResult):
            model.rules_, model.result_, model.search_ = rules, content.result, None
            model.seconds_ = {str(k): float(v) for k, v in manifest["seconds"].items()}
        return model


def _chosen(
    path: Path, given: object, records: list[_PerceptionRecord], rules: Cascade
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
    path: Path, place: Path, record: _PerceptionRecord, given: Mapping[str, Any]
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


def _made(path: Path, place: Path, record: _PerceptionRecord) -> object:
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


# --- the .zip file --------------------------------------------------------------------------------


@contextmanager
def archived(path: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Give a directory for members and a dict for the manifest; the block's end makes the file."""
    _check_replaceable(path)
    with writing_bytes(path) as stream, TemporaryDirectory() as name:
        content: dict[str, Any] = {"format": FORMAT, "version": VERSION}
        yield Path(name), content
        files = {member.name: member.read_bytes() for member in sorted(Path(name).iterdir())}
        content["files"] = {member: _digest(data) for member, data in files.items()}
        manifest = json.dumps(content, indent=1) + "\n"
        with ZipFile(stream, "w") as archive:
            for member, data in {MANIFEST: manifest.encode(), **files}.items():
                archive.writestr(ZipInfo(member), data)  # without a date: the same bytes again


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _check_replaceable(path: Path) -> None:
    """Raise `DataError` if there is a file that pinesy did not write; one cut off is replaced."""
    if not path.is_file():
        return
    with path.open("rb") as stream:  # the name of the first member stands at byte 30
        head = stream.read(30 + len(MANIFEST))
    if head and head[30:] != MANIFEST.encode():
        raise DataError(
            f"{path}: holds something else than a neuro-symbolic model, which would be lost; give "
            "another name"
        )


@contextmanager
def extracted(path: Path) -> Iterator[tuple[dict[str, Any], Path]]:
    """Give the manifest of a file and a directory with its members; errors name the file."""
    with TemporaryDirectory() as name:
        try:
            yield _extract(path, Path(name)), Path(name)
        except PinesyError as error:
            error.args = (str(error).replace(f"{name}{os.sep}", f"{path}, "), *error.args[1:])
            raise


def _extract(path: Path, place: Path) -> dict[str, Any]:
    try:
        with ZipFile(path) as archive:
            manifest = _manifest(path, archive)
            for name, digest in manifest["files"].items():
                data = archive.read(name)
                if _digest(data) != digest:
                    raise DataError(
                        f"{path}, {name}: not what was saved (its SHA-256 differs): it was "
                        "changed, or mixed up with that of another model"
                    )
                (place / name).write_bytes(data)
            return manifest
    except KeyError:
        raise DataError(f"{path}: {name} is missing; the file was changed") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (BadZipFile, NotImplementedError, RuntimeError) as error:
        raise DataError(
            f"{path}: not a whole .zip file ({error}): it was cut off or changed, or is something "
            "else than a neuro-symbolic model"
        ) from None


def _manifest(path: Path, archive: ZipFile) -> dict[str, Any]:
    """Return the manifest of a file, or raise `DataError` if it is not as it was written."""
    if MANIFEST not in archive.namelist():
        raise DataError(
            f"{path}: not a neuro-symbolic model: there is no {MANIFEST}; give a file that "
            "pinesy.save wrote"
        )
    try:
        manifest = json.loads(archive.read(MANIFEST))
    except (RecursionError, ValueError) as error:
        raise DataError(f"{path}, {MANIFEST}: not whole JSON: {error}") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise DataError(f'{path}, {MANIFEST}: not of pinesy: "format" must be "{FORMAT}"')
    if manifest.get("version") != VERSION:
        raise DataError(
            f"{path}: version {manifest.get('version')!r:.20}; this pinesy reads version "
            f"{VERSION}; update pinesy to read a newer one"
        )
    try:
        _check_form(manifest)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise DataError(
            f"{path}, {MANIFEST}: not of the form that it must have: {error!r:.80}"
        ) from None
    return manifest


def _check_form(manifest: dict[str, Any]) -> None:
    """Make records of the perceptions; a manifest that lacks or confuses something is an error."""
    records = [_PerceptionRecord(**record) for record in manifest["perceptions"]]
    files = manifest["files"] = dict(manifest["files"])
    if not all(MEMBER.fullmatch(name) for name in files):
        raise ValueError("files has names that pinesy does not give")
    if not {r.file for r in records} - {None} <= {*files}:
        raise ValueError("the file of a perception is none of those that were saved")
    lists = [manifest["inputs"] or [], *(record.attributes for record in records)]
    if not all(isinstance(name, str) for part in lists for name in part) or not records:
        raise TypeError("names must be text")
    _ = manifest["single"], manifest["transform"]
    _ = [float(v) for v in manifest["seconds"].values()]
    manifest["perceptions"] = records

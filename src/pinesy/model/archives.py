"""The .zip files of neuro-symbolic models: members, and a manifest that has the SHA-256 of each."""

import hashlib
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from pinesy._common.files import atomic_bytes, scratch_directory, wrap_read_errors
from pinesy.exceptions import DataError, PinesyError

FORMAT, VERSION = "pinesy neuro-symbolic model", 1
MANIFEST, RULES = "neurosymbolic.json", "model.json"
#: The other members of a file.
MEMBER = re.compile(r"model\.json|perception-\d+(\.[\w.-]+)?")


@dataclass(frozen=True)
class PerceptionRecord:
    """A perception in the manifest: the names of its attributes, its type and its file, if any."""

    attributes: list[str]
    kind: str
    file: str | None


@contextmanager
def archived(path: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Give a directory for members and a dict for the manifest; the block's end makes the file."""
    _check_replaceable(path)
    with atomic_bytes(path) as stream, scratch_directory() as directory:
        content: dict[str, Any] = {"format": FORMAT, "version": VERSION}
        yield directory, content
        files = {member.name: member.read_bytes() for member in sorted(directory.iterdir())}
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
    with scratch_directory() as directory:
        try:
            yield _extract(path, directory), directory
        except PinesyError as error:
            error.args = (str(error).replace(f"{directory}{os.sep}", f"{path}, "), *error.args[1:])
            raise


def _extract(path: Path, directory: Path) -> dict[str, Any]:
    try:
        with wrap_read_errors(path), ZipFile(path) as archive:
            manifest = _manifest(path, archive)
            for name, digest in manifest["files"].items():
                data = _member(path, archive, name)
                if _digest(data) != digest:
                    raise DataError(
                        f"{path}, {name}: not what was saved (its SHA-256 differs): it was "
                        "changed, or mixed up with that of another model"
                    )
                (directory / name).write_bytes(data)
            return manifest
    except KeyError:
        raise DataError(f"{path}: {name} is missing; the file was changed") from None
    except (BadZipFile, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        raise DataError(
            f"{path}: not a whole .zip file ({error}): it was cut off or changed, or is something "
            "else than a neuro-symbolic model"
        ) from None


def _member(path: Path, archive: ZipFile, name: str) -> bytes:
    """Return the bytes of a member, which must not be compressed."""
    if archive.getinfo(name).compress_type != ZIP_STORED:
        raise DataError(
            f"{path}: {name} is compressed, as pinesy.save compresses nothing; the file was "
            "written anew by another program"
        )
    return archive.read(name)


def _manifest(path: Path, archive: ZipFile) -> dict[str, Any]:
    """Return the manifest of a file, or raise `DataError` if it is not as it was written."""
    if MANIFEST not in archive.namelist():
        raise DataError(
            f"{path}: not a neuro-symbolic model: there is no {MANIFEST}; give a file that "
            "pinesy.save wrote"
        )
    try:
        manifest = json.loads(_member(path, archive, MANIFEST))
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
        _parse_records(manifest)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise DataError(
            f"{path}, {MANIFEST}: not of the form that it must have: {error!r:.80}"
        ) from None
    return manifest


def _parse_records(manifest: dict[str, Any]) -> None:
    """Turn the perceptions of a manifest into records; raise if it has the wrong form."""
    records = [PerceptionRecord(**record) for record in manifest["perceptions"]]
    files = manifest["files"] = dict(manifest["files"])
    if not all(MEMBER.fullmatch(name) for name in files):
        raise ValueError("files has names that pinesy does not give")
    if not {r.file for r in records} - {None} <= {*files}:
        raise ValueError("the file of a perception is none of those that were saved")
    if not records or not all(isinstance(record.kind, str) for record in records):
        raise TypeError("perceptions must be there, with their types")
    lists = [record.attributes for record in records]
    if manifest["inputs"] is not None:
        lists.append(manifest["inputs"])
    if not all(isinstance(part, list) and part for part in lists):
        raise TypeError("inputs and attributes must be lists of names")
    if not all(isinstance(name, str) for part in lists for name in part):
        raise TypeError("names must be text")
    _ = manifest["single"], manifest["transform"]
    _ = [float(v) for v in manifest["seconds"].values()]
    manifest["perceptions"] = records

"""Directories that are whole or not there: written beside their place, then put into it.

A manifest lists the files of a directory and their SHA-256, so that what was cut off, mixed up or
never was written by pinesy is told from what can be used.
"""

import hashlib
import json
import os
import re
import secrets
import shutil
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pinesy._common.files import read_text, writing
from pinesy.exceptions import DataError

MANIFEST = "neurosymbolic.json"
FORMAT, VERSION = "pinesy neuro-symbolic model", 1
#: The files that a saved directory may hold; one with others is not replaced.
OURS = re.compile(r"neurosymbolic\.json|model\.json|perception-\d+(\.[\w.-]+)?")


@contextmanager
def saving(directory: Path) -> Iterator[Path]:
    """Give an empty directory to write to, which takes the name `directory` when the block ends.

    An existing one is put aside first and deleted last, so that one of the two is whole at any
    time; `whole` tells where. A link stays a link.
    """
    try:
        place = directory.resolve()
        for replaced in (place, _aside(place)):
            _check_replaceable(replaced)
        temporary = place.with_name(f".{place.name}.{secrets.token_hex(4)}.tmp")
        temporary.mkdir(parents=True)
        try:
            yield temporary
            _put(temporary, place)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    except OSError as error:
        raise DataError(f"{directory}: cannot be written: {error.strerror or error}") from None


def _aside(place: Path) -> Path:
    return place.with_name(f".{place.name}.old")


def _put(temporary: Path, place: Path) -> None:
    aside = _aside(place)
    if place.exists():
        shutil.copymode(place, temporary)
        shutil.rmtree(aside, ignore_errors=True)
        os.rename(place, aside)
    try:
        os.rename(temporary, place)
    finally:  # what was put aside comes back if there is nothing in its place
        if not place.exists() and aside.exists():
            os.rename(aside, place)
    shutil.rmtree(aside, ignore_errors=True)


def _check_replaceable(place: Path) -> None:
    """Raise `DataError` if there is something in the place that pinesy did not write."""
    if not place.exists():
        return
    if not place.is_dir():
        raise DataError(f"{place}: a file, not a directory; give another name")
    others = sorted(p.name for p in place.iterdir() if not OURS.fullmatch(p.name))
    if others:
        raise DataError(
            f"{place}: holds what is no part of a model and would be lost: {', '.join(others[:3])}"
            f"{', ...' * (len(others) > 3)}; give another directory"
        )


def whole(directory: Path) -> Path:
    """Return the directory or, if saving was interrupted between the two, the one put aside."""
    aside = _aside(directory.resolve())
    if directory.exists() or not aside.is_dir():
        return directory
    warnings.warn(
        f"{directory}: saving was interrupted; the model before it is read, from {aside}",
        stacklevel=3,
    )
    return aside


def write_manifest(place: Path, content: Mapping[str, Any]) -> None:
    """Write the manifest of the files that are there, with `content` besides."""
    files = {path.name: _digest(path) for path in sorted(place.iterdir())}
    manifest = {"format": FORMAT, "version": VERSION, **content, "files": files}
    with writing(place / MANIFEST) as stream:
        stream.write(json.dumps(manifest, indent=1) + "\n")


def read_manifest(place: Path) -> dict[str, Any]:
    """Return the manifest of a directory, or raise `DataError` if it is not as it was written."""
    path = place / MANIFEST
    if not path.exists():
        raise DataError(
            f"{place}: not a saved model: there is no {MANIFEST}; give a directory that "
            "NeuroSymbolic.save wrote"
        )
    try:
        manifest = json.loads(read_text(path))
    except (RecursionError, ValueError) as error:
        raise DataError(f"{path}: not whole JSON: {error}") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise DataError(f'{path}: not a file of pinesy: "format" must be "{FORMAT}"')
    if manifest.get("version") != VERSION:
        raise DataError(
            f"{path}: version {manifest.get('version')!r:.20}; this pinesy reads version {VERSION}"
        )
    _check_files(place, manifest.get("files"))
    return manifest


def _check_files(place: Path, files: object) -> None:
    if not isinstance(files, dict) or not all(OURS.fullmatch(name) for name in files):
        raise DataError(f'{place / MANIFEST}: "files" is missing or not of the form it must have')
    for name, digest in files.items():
        if not (place / name).is_file():
            raise DataError(f"{place}: {name} is missing; the directory was not copied whole")
        if _digest(place / name) != digest:
            raise DataError(
                f"{place / name}: not the file that was saved (its SHA-256 differs): it was cut "
                "off, changed, or mixed up with that of another model"
            )


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from None

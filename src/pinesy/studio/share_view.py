"""The Share view: the page in one file, the same in code, and files."""

import csv
import io
import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from secrets import token_urlsafe
from typing import Any, NamedTuple

from pinesy import learning
from pinesy._common.files import scratch_directory
from pinesy._common.validation import check_known
from pinesy.display.pages import report_page
from pinesy.display.report_rows import suspicious_labels
from pinesy.exceptions import DataError
from pinesy.exchange import to_onnx
from pinesy.exchange.page import rules_page
from pinesy.exchange.page_data import evidence_batch, samples_data
from pinesy.explanations import explain
from pinesy.explanations.labels import Wording
from pinesy.induction.points_cascade import card_of
from pinesy.model.storage import save
from pinesy.rules.attributes import Attribute
from pinesy.rules.numbers import is_number
from pinesy.rules.outcomes import OUTCOMES
from pinesy.rules.possibility import Possibility
from pinesy.studio.ask_view import equation_prefix
from pinesy.studio.data_view import answers_of, audit_of
from pinesy.studio.question import output_named, read_sample
from pinesy.studio.row_answers import answered_outputs
from pinesy.studio.session import Payload, Session, endpoints
from pinesy.verdicts import verdict

#: Rows of the data that are sent along, the first.
SENT_ROWS = 100
#: Previews that can be opened.
MAX_PREVIEWS = 4
#: Characters of the name of a file.
MAX_NAME = 80
#: How a text begins that a spreadsheet would run.
FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")


class ShareFile(NamedTuple):
    """A kind of file.

    Attributes
    ----------
    title, suffix, help : what the page says of it
    make : returns its content
    needs_rows, needs : whether it takes rows with labels, and a module that it takes
    """

    title: str
    suffix: str
    help: str
    make: Callable[[Session, Payload], str | bytes]
    needs_rows: bool = False
    needs: str = ""


def overview(session: Session, payload: Payload) -> dict[str, Any]:
    """Return the verdict on the sample for the preview, the code, and the files.

    Payload: ``sample``, ``attribute``.
    """
    attribute, evidence = _asked(session, payload)
    answer = verdict(session.work.rules, evidence, attribute)
    content, size = page_text(session, payload.get("sample"))
    question = answer.wording.name(attribute)
    return {
        "version": session.version,
        "name": f"{_stem(session)}.html",
        "bytes": len(content.encode()),
        "samples": size,
        "prefix": equation_prefix(answer),
        "verdict": {
            "question": question,
            "outcome": answer.outcome,
            "answer": answer.answer,
            "values": [answer.wording.value(attribute, value) for value in answer.values],
            "certainty": answer.certainty,
            "because": answer.because,
        },
        "code": code_texts(session, attribute, evidence, answer.answer),
        "files": [_file_data(session, kind, entry) for kind, entry in FILES.items()],
    }


def _asked(session: Session, payload: Payload) -> tuple[Attribute, dict[str, Any]]:
    """Return the attribute that is asked about, and the evidence that it takes."""
    rules = session.work.rules
    name = payload.get("attribute")
    if name is None:
        name = rules.outputs[0].name
    attribute, sample = output_named(rules, name), payload.get("sample")
    is_blank = (
        isinstance(sample, Mapping) and sample.get("row") is None and not sample.get("inputs")
    )
    if is_blank and len(session.rows):
        sample = {"row": 0, "inputs": {}}
    evidence, _ = read_sample(session, sample)
    return attribute, {a.name: evidence[a.name] for a in rules.compile([attribute]).inputs}


def _file_data(session: Session, kind: str, entry: ShareFile) -> dict[str, Any]:
    """Return what the page says of a file, and why it cannot be made."""
    missing = ""
    if entry.needs_rows and not len(session.rows):
        missing = "It takes rows: pinesy studio RULES DATA."
    elif entry.needs and find_spec(entry.needs) is None:
        missing = f"It takes {entry.needs}: pip install {entry.needs}."
    suffix = ".zip" if kind == "model" and session.work.model is not None else entry.suffix
    texts = {"kind": kind, "title": entry.title, "suffix": suffix, "help": entry.help}
    return texts | {"missing": missing}


def _title(session: Session) -> str:
    """Return the title of the page: that of the studio, or the name of the file of the rules."""
    return session.title or ("rules" if session.path is None else session.path.stem)


def _stem(session: Session) -> str:
    """Return what files are called, without a suffix.

    Titles may have signs that names of files must not have.
    """
    return re.sub(r"[^\w.-]+", "-", _title(session)).strip(".-")[:MAX_NAME] or "rules"


# --- the page in one file -------------------------------------------------------------------------


def page(session: Session, payload: Payload) -> dict[str, str]:
    """Return the name and content of the page in one file: rules, current sample, some rows."""
    return {"name": f"{_stem(session)}.html", "page": page_text(session, payload.get("sample"))[0]}


def preview(session: Session, payload: Payload) -> dict[str, str]:
    """Return an address at which the page in one file can be opened, once."""
    key = token_urlsafe(24)
    session.previews[key] = page_text(session, payload.get("sample"))[0]
    for old in list(session.previews)[:-MAX_PREVIEWS]:
        del session.previews[old]
    return {"address": f"/preview/{key}"}


def page_text(session: Session, sample: object) -> tuple[str, int]:
    """Return the page, and how many samples it has (docs/one-file-page.md)."""
    work = session.work
    samples: list[Any] = []
    for name, content in _samples(session, sample):
        evidence, images = read_sample(session, content)
        batches = {key: image[None] for key, image in images.items()}
        samples += samples_data(work.rules, evidence_batch(work.rules, evidence), [name], batches)
    content = rules_page(work.rules, samples, _title(session), network=work.model is not None)
    return content, len(samples)


def _samples(session: Session, sample: object) -> Iterator[tuple[str, Any]]:
    """Yield the titles and contents of samples for the page, the current sample first."""
    if isinstance(sample, Mapping) and sample.get("inputs"):
        yield "as it was set", sample
    for row in range(min(len(session.rows), SENT_ROWS)):
        ids = " ".join(session.rows.ids(row).values())
        yield ids or f"row {row + 1}", {"row": row, "inputs": {}}


# --- code -----------------------------------------------------------------------------------------


def code_texts(
    session: Session, attribute: Attribute, evidence: Mapping[str, Any], answer: str
) -> dict[str, str]:
    """Return how to get the same answer in Python, on the command line and in a notebook."""
    model = session.work.model
    path = f"{_stem(session)}{'.rules' if model is None else '.zip'}"
    path = path if session.path is None else session.path.name
    data = "new.csv" if session.data_path is None else session.data_path.name
    known = {name: _literal(content) for name, content in evidence.items()}
    row = ",\n".join(f"    {json.dumps(name)}: {text}" for name, text in known.items())
    load = f"rules = load({json.dumps(path)})"
    if model is not None:
        load = f"model = load({json.dumps(path)})  # rules and network\nrules = model.rules_"
    call = f"verdict(rules, row, {json.dumps(attribute.name)})"
    names = f"from pinesy import load, verdict\n\n{load}\nrow = {{\n{row},\n}}\n"
    return {
        "Python": f"{names}print({call})\n# {answer}",
        "Command line": "\n".join(
            [
                f"pinesy infer {path} {data} -o answers.csv",
                f"pinesy explain {path} {data} --sample 1 --attribute {attribute.name}",
                f"pinesy evaluate {path} {data} -o report.html",
                f"pinesy export page {path} {data} -o page.html",
            ]
        ),
        "Notebook": f"# the last line of a cell shows the verdict\n{names}{call}",
    }


def _literal(content: Any) -> str:
    """Return evidence on an input as Python code."""
    if isinstance(content, Possibility):
        content = content.degrees.tolist()
    if isinstance(content, list):
        return repr([float(f"{degree:.6g}") for degree in content])
    if is_number(content) and not isinstance(content, bool):
        return f"{float(content):.12g}"
    return repr(content)


# --- files ----------------------------------------------------------------------------------------


def file(session: Session, payload: Payload) -> dict[str, str]:
    """Return the name of a file and its content in base64: ``kind``, ``sample``, ``attribute``."""
    kind = payload.get("kind")
    check_known(kind, tuple(FILES), f"there is no file {kind!r:.60}", DataError)
    entry = FILES[str(kind)]
    described = _file_data(session, str(kind), entry)
    if described["missing"]:
        raise DataError(described["missing"])
    content = entry.make(session, payload)
    encoded = content.encode() if isinstance(content, str) else content
    name = f"{_stem(session)}{'' if kind in ('rules', 'model', 'onnx') else f'-{kind}'}"
    return {"name": name + described["suffix"], "content": b64encode(encoded).decode("ascii")}


def _model_file(session: Session, _payload: Payload) -> bytes:
    """Return rules with what was learned and calibrated, or the whole model."""
    work = session.work
    with scratch_directory() as directory:
        path = Path(directory) / ("model.json" if work.model is None else "model.zip")
        save(work.model or work.calibrated or work.learned or work.rules, path)
        return path.read_bytes()


def _rules_file(session: Session, _payload: Payload) -> str:
    """Return the text of the rules; of induced ones with their score card."""
    work = session.work
    if card_of(work.rules) is None or work.text != str(work.rules):
        return work.text
    with scratch_directory() as directory:
        path = Path(directory) / "card.rules"
        save(work.rules, path)
        return path.read_text(encoding="utf-8")


def _report_file(session: Session, _payload: Payload) -> str:
    """Return the report on all rows, as pinesy evaluate writes it."""
    batch, rules = session.with_labels(), session.work.rules
    [*_, name] = answered_outputs(rules, batch.targets, None)
    report = learning.evaluate(rules, batch.evidence, batch.targets, output=name)
    suspicious = suspicious_labels(audit_of(session, "given"), batch, rules.inputs)
    return report_page(report, _title(session), suspicious=suspicious)


def _answers_file(session: Session, _payload: Payload) -> str:
    """Return the answers to all rows as CSV."""
    batch, answers = session.labelled(), answers_of(session, None)
    wording = Wording.of(None, session.work.rules.attributes)
    names = [wording.name(pi.attribute) for pi in answers.possibilities]
    stream = io.StringIO()
    writer = csv.writer(stream)
    writer.writerow(["row", *map(_cell, batch.ids), *map(_cell, names), "certain", "outcome"])
    for i in range(len(answers)):
        values = [pi.sample(i) for pi in answers.possibilities]
        writer.writerow(
            [
                i + 1,
                *(_cell(str(entry)) for entry in batch.ids_of(i).values()),
                *(
                    _cell("" if v.best is None else wording.value(v.attribute, v.best))
                    for v in values
                ),
                float(answers.certainties[i]),
                OUTCOMES[answers.outcomes[i]],
            ]
        )
    return stream.getvalue()


def _cell(text: str) -> str:
    """Return a text that a spreadsheet shows and does not run."""
    return f"'{text}" if text.startswith(FORMULA_SIGNS) else text


def _onnx_file(session: Session, _payload: Payload) -> bytes:
    content: bytes = to_onnx(session.work.model or session.work.rules).SerializeToString()
    return content


def _picture_file(session: Session, payload: Payload) -> str:
    """Return the explanation of the answer as a picture."""
    attribute, evidence = _asked(session, payload)
    picture: str = explain(session.work.rules, evidence, attribute).to_svg()
    return picture


FILES = {
    "rules": ShareFile("Rules as text", ".rules", "to edit, to review in git", _rules_file),
    "model": ShareFile("Model", ".json", "rules, what was learned, the network", _model_file),
    "report": ShareFile(
        "Report", ".html", "how often right, by class and by rule", _report_file, True, "matplotlib"
    ),
    "answers": ShareFile(
        "Answers to all rows", ".csv", "value, certainty, outcome", _answers_file, True
    ),
    "onnx": ShareFile(
        "Network format",
        ".onnx",
        "rules as a layer, for other run-times",
        _onnx_file,
        False,
        "onnx",
    ),
    "picture": ShareFile("Picture of the answer", ".svg", "for a paper or a slide", _picture_file),
}
ENDPOINTS = endpoints(file, overview, page, preview)

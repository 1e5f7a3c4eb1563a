"""The command ``pinesy serve``."""

import gc
import ipaddress
import logging
import os
import sys
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from pinesy._common.caching import prefer_kernels
from pinesy._common.files import read_text
from pinesy.cli import options
from pinesy.exceptions import DataError
from pinesy.serve.decision_log import FILES, MAX_BYTES, DecisionLog, InputLogging
from pinesy.serve.served_model import ServedModel

ServedFile = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL", help="Rules or a model: a .rules, .json or .zip file, as pinesy infer."
    ),
]
Host = Annotated[str, typer.Option(help="The address to listen on.")]
ServicePort = Annotated[int, typer.Option(min=0, max=65535, help="Listen there; 0 for any.")]
TokenFile = Annotated[
    Path | None,
    typer.Option(
        help="A file with the token that requests need. Or set PINESY_TOKEN.", metavar="FILE"
    ),
]
NoToken = Annotated[
    bool, typer.Option("--no-token", help="Answer other machines without a token, too.")
]
LogFile = Annotated[
    Path | None, typer.Option("--log", metavar="FILE", help="Write decisions there, JSON Lines.")
]
LogInputs = Annotated[
    InputLogging, typer.Option(help="What the log has of inputs: all, their SHA-256, or nothing.")
]
LogKey = Annotated[
    Path | None,
    typer.Option(
        "--log-key-file", metavar="FILE", help="A file with the key of hashes (HMAC-SHA-256)."
    ),
]
LogBytes = Annotated[int, typer.Option(min=1, help="Bytes of a file of the log.")]
LogFiles = Annotated[int, typer.Option(min=2, help="Files of the log that are kept.")]
MaxBytes = Annotated[int, typer.Option(min=1, help="Bytes of a request.")]
MaxSamples = Annotated[int, typer.Option(min=1, help="Samples of a request.")]
MaxRequests = Annotated[int, typer.Option(min=1, help="Requests at a time; more get 503.")]
Timeout = Annotated[
    float, typer.Option(min=0.01, help="Seconds for a body to arrive, and for its answer.")
]
ReloadSeconds = Annotated[
    float, typer.Option(min=0.0, help="Seconds between looks at the model's file; 0 for none.")
]
#: The environment variable with the token, and the characters that it has at least.
TOKEN_VARIABLE, MIN_TOKEN = "PINESY_TOKEN", 16
#: Seconds that open requests get when the service ends.
GRACE = 5
#: Seconds that a thread runs before another may: requests wait less for those of many samples.
SWITCH_SECONDS = 0.001


def serve(
    model: ServedFile,
    host: Host = "127.0.0.1",
    port: ServicePort = 8800,
    transform: options.TransformOption = "none",
    ids: options.Ids = None,
    token_file: TokenFile = None,
    no_token: NoToken = False,
    log: LogFile = None,
    log_inputs: LogInputs = "full",
    log_key_file: LogKey = None,
    log_bytes: LogBytes = MAX_BYTES,
    log_files: LogFiles = FILES,
    max_bytes: MaxBytes = 1_000_000,
    max_samples: MaxSamples = 1_000,
    max_requests: MaxRequests = 64,
    timeout: Timeout = 10.0,
    reload_seconds: ReloadSeconds = 1.0,
) -> None:
    r"""Answer requests over HTTP by a model, with reasons, and log the decisions.

    [bold]Endpoints[/bold]
      POST /infer    outcome, best value, certainty, reason and rules
      POST /decide   the same, by the threshold of pinesy calibrate --error:
                     decided, or handed_over
      POST /explain  the verdict in full: what would change it, how firm it is
      GET  /health   the state of the service and its model
      GET  /schema   an OpenAPI 3.1 document of this model
    A request is {"samples": [{"INPUT": VALUE, ...}, ...]}; a sample is a line of
    JSON Lines as pinesy infer takes it, and samples may have the names of --id too.

    The service listens on this machine alone, unless --host says otherwise; then
    requests need a token: Authorization: Bearer TOKEN.
    When the file of the model changes, the new one answers as soon as it is read
    and checked; one that fails, or has other inputs or outputs, is reported on
    stderr and by /health, and the old one stays.
    It needs pip install 'pinesy\[serve]'.

    [bold]Examples[/bold]
      pinesy serve examples/loan.rules
      pinesy serve model.json --log decisions.jsonl --id region
      pinesy serve model.json --host 0.0.0.0 --token-file token.txt
    """
    missing = [name for name in ("starlette", "uvicorn") if not find_spec(name)]
    if missing:
        raise DataError(f"the service needs {', '.join(missing)}: pip install 'pinesy[serve]'")
    token = _token(token_file)
    is_local = _is_loopback(host)
    if token is None and not is_local and not no_token:
        raise typer.BadParameter(
            f"{host} is reached from other machines; give a token by --token-file or "
            f"{TOKEN_VARIABLE}, or say --no-token",
            param_hint="--host",
        )
    key = b"" if log_key_file is None else _secret(log_key_file).encode()
    names = tuple(ids or ())
    options.refuse_options(
        (log is None and log_inputs != "full", "--log-inputs", "there is no log; give --log FILE"),
        (bool(key) and log_inputs != "hashed", "--log-key-file", "a key is of hashed inputs"),
    )
    prefer_kernels()
    load = partial(ServedModel.load, model, transform, names)
    served = load()
    served.check()

    import uvicorn

    from pinesy._common.web_server import Announcing, bound_socket
    from pinesy.serve.model_file_watch import ModelFileWatch
    from pinesy.serve.service import Limits, Service, application

    try:
        bound = bound_socket(host, port)
    except OSError as error:
        raise DataError(
            f"{host}, port {port} cannot be used: {error.strerror or error}; give another --port, "
            "or 0 for any"
        ) from None
    with bound:
        decision_log = None
        if log is not None:
            decision_log = DecisionLog(log, log_inputs, key, log_bytes, log_files)
        watch = ModelFileWatch(model, load, reload_seconds) if reload_seconds else None
        limits = Limits(max_bytes, max_samples, max_requests, timeout)
        service = Service(served, decision_log, limits, watch)
        logging.basicConfig(stream=sys.stderr, format="%(message)s", level=logging.WARNING)
        sys.setswitchinterval(SWITCH_SECONDS)
        gc.collect()
        gc.freeze()  # what is loaded stays: later collections need not look at it
        server = Announcing(
            uvicorn.Config(
                application(service, token, any_host=not is_local),
                log_level="critical",
                access_log=False,
                ws="none",
                timeout_graceful_shutdown=GRACE,
                server_header=False,
                date_header=False,
            )
        )
        address = f"[{host}]" if ":" in host else host
        line = f"{model.name} is served at http://{address}:{bound.getsockname()[1]} (Ctrl-C ends)"
        server.announce = partial(typer.echo, line)
        server.run(sockets=[bound])
    if decision_log is not None:
        decision_log.close()


def _token(path: Path | None) -> str | None:
    """Return the token of a file or of the environment; None if there is none."""
    if path is not None:
        token, where = _secret(path), str(path)
    elif TOKEN_VARIABLE in os.environ:
        token, where = os.environ[TOKEN_VARIABLE].strip(), TOKEN_VARIABLE
    else:
        return None
    if len(token) < MIN_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise DataError(
            f"{where}: a token has at least {MIN_TOKEN} characters of ASCII without blanks; make "
            "one: python -c 'import secrets; print(secrets.token_urlsafe())'"
        )
    return token


def _secret(path: Path) -> str:
    text = read_text(path).strip()
    if not text:
        raise DataError(f"{path}: is empty; it holds one secret")
    return text


def _is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"

"""The studio as a web application, served on loopback: page, files, and endpoints of the views.

A view is a module ``<name>_view.py`` here, with `ENDPOINTS`: functions of the session and a payload
(a JSON object) that return plain data for JSON, by name; and ``static/views/<name>.js``, an ES
module that exports ``open(place, studio)``: it fills the element `place`, once, when its tab is
first selected. The page asks for an endpoint by ``studio.ask("<name>/<endpoint>", {...})``. A
`PinesyError` that a function raises is shown to the user with its message.
"""

import json
import logging
import socket
import webbrowser
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from pinesy._common.files import atomic_text, scratch_directory
from pinesy._common.web_server import (
    Announcing,
    RequestError,
    RequestThreads,
    as_json,
    bound_socket,
    read_body,
)
from pinesy.exceptions import DataError, PinesyError, RulesTextError
from pinesy.studio import ask_view, data_view, learn_view, rules_view, share_view
from pinesy.studio.background_jobs import PATIENCE
from pinesy.studio.guard import ENTRANCE, PREVIEW, Access, Guard
from pinesy.studio.session import Payload, Session, endpoints

STATIC = Path(__file__).parent / "static"
#: What the exported page uses too.
SHARED = Path(__file__).parents[1] / "exchange" / "web"
#: Bytes that a request may hold: a text of rules, or images.
MOST_BYTES = 32 * 1024 * 1024
#: Bytes that one without access may send: a code.
MOST_ENTRY_BYTES = 1024
log = logging.getLogger("pinesy.studio")
HOST = "127.0.0.1"
#: The first port that is tried, and how many after it.
PORT, PORTS = 8765, 50
#: Seconds that open requests get when the studio ends.
GRACE = 2
#: Seconds that the command waits for the session before it serves the page: most errors come first.
OPEN_AT_ONCE = 0.3
#: Requests of the views that are worked on at a time (and as many of the page around them), and
#: those that may wait.
THREADS, MOST_WAITING = 8, 1_000


#: The tabs of the page, by what their views are called, in their order.
VIEWS = {
    "ask": ("Ask", ask_view.ENDPOINTS),
    "rules": ("Rules", rules_view.ENDPOINTS),
    "data": ("Data", data_view.ENDPOINTS),
    "learn": ("Learn", learn_view.ENDPOINTS),
    "share": ("Share", share_view.ENDPOINTS),
}


# --- endpoints of the page around the views: the state of the work, its files, undo --------------


def views(_session: Session, _payload: Payload) -> list[dict[str, str]]:
    """Return the views, the one that opens first before the others."""
    return [{"name": name, "title": title} for name, (title, _) in VIEWS.items()]


def state(session: Session, _payload: Payload) -> dict[str, Any]:
    """Return the content of the header, and the version, on which views reload.

    ``changed`` names the files that changed on disk.
    """
    rows = session.rows
    return {
        "version": session.version,
        "source": session.title or ("" if session.path is None else session.path.name),
        "data": "data" if session.data_path is None else session.data_path.name,
        "rows": len(rows),
        "reading": not rows.finished,
        "problem": rows.problem,
        "changed": session.changed_files(),
        "canUndo": session.can_undo,
    }


def reload(session: Session, payload: Payload) -> dict[str, Any]:
    """Read changed files again."""
    session.reload()
    return state(session, payload)


def keep(session: Session, payload: Payload) -> dict[str, Any]:
    """Ignore the changes of files."""
    session.accept_files()
    return state(session, payload)


def undo(session: Session, payload: Payload) -> dict[str, Any]:
    """Restore the previous work."""
    session.undo()
    return state(session, payload)


def job(session: Session, payload: Payload) -> dict[str, Any]:
    """Return the status of a job."""
    return session.jobs.job(payload.get("job")).status()


def stop(session: Session, payload: Payload) -> dict[str, Any]:
    """Request that a job stop."""
    running = session.jobs.job(payload.get("job"))
    running.stop()
    running.wait(PATIENCE)
    return running.status()


#: The endpoints, by view and name.
ENDPOINTS = {
    "shell": endpoints(job, keep, reload, views, state, stop, undo),
    **{name: functions for name, (_, functions) in VIEWS.items()},
}


# --- the application ------------------------------------------------------------------------------


def application(session: "Session | Future[Session]", access: Access) -> Starlette:
    """Return the ASGI application, protected by `pinesy.studio.guard`.

    Of a session that is still being opened the page is there at once; its requests wait.
    """
    routes: list[Route | Mount] = [
        Route("/", _page),
        Route(ENTRANCE, _enter, methods=["POST"]),
        Route("/api/{view}/{name}", _answer, methods=["POST"]),
        Route(PREVIEW + "{key}", _preview),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    if SHARED.is_dir():
        routes.append(Mount("/shared", StaticFiles(directory=SHARED)))
    app = Starlette(routes=routes, middleware=[Middleware(Guard, access=access)])
    opened: Future[Session] = Future()
    if isinstance(session, Future):
        opened = session
    else:
        opened.set_result(session)
    app.state.session, app.state.access = opened, access
    # The page itself has threads of its own, so that it can stop what takes those of the views.
    app.state.shell_threads, app.state.view_threads = (
        RequestThreads(THREADS, MOST_WAITING),
        RequestThreads(THREADS, MOST_WAITING),
    )
    return app


async def _page(_request: Request) -> Response:
    return FileResponse(STATIC / "index.html")


async def _preview(request: Request) -> Response:
    """Return the page in one file that a key stands for, and forget it."""
    opened = request.app.state.session
    previews = opened.result().previews if opened.done() else {}
    content = previews.pop(request.path_params["key"], None)
    if content is None:
        return Response("This preview was opened before. Open it again in Share.", 404)
    return Response(content, media_type="text/html")


async def _enter(request: Request) -> Response:
    """Exchange a code for the token; for the token itself too, as a page sends it that has it.

    A page with neither is refused, and the terminal shows a new address for it.
    """
    payload = await _payload(request, MOST_ENTRY_BYTES)
    if isinstance(payload, Response):
        return payload
    access: Access = request.app.state.access
    if access.spend(payload.get("code")) or access.has_token(request.headers):
        return as_json({"token": access.token})
    access.offer_code()
    problem = (
        "This browser has no access to the studio. Open the last address that pinesy studio "
        "shows in its terminal; each works once."
    )
    return as_json({"error": problem}, 403)


async def _answer(request: Request) -> Response:
    """Run an endpoint beside the server's loop, and make JSON of what it returns or raises."""
    view, name = (request.path_params[key] for key in ("view", "name"))
    endpoint = ENDPOINTS.get(view, {}).get(name)
    if endpoint is None:
        return as_json({"error": "there is no such endpoint"}, 404)
    payload = await _payload(request, MOST_BYTES)
    if isinstance(payload, Response):
        return payload
    state = request.app.state
    threads = state.shell_threads if view == "shell" else state.view_threads
    try:
        return as_json(await threads.run(lambda: endpoint(state.session.result(), payload)))
    except PinesyError as error:
        return as_json(error_data(error), 422)
    except Exception as error:
        log.exception("%s failed", request.url.path)
        reason = f"{type(error).__name__}: {error}"
        return as_json({"error": f"the studio failed; see the terminal: {reason}"}, 500)


async def _payload(request: Request, max_bytes: int) -> Payload | Response:
    """Return the JSON object in the body of a request, or a response that refuses it."""
    try:
        content = await read_body(request, max_bytes)
        payload = json.loads(content or b"{}", parse_constant=_refuse_constant)
        if not isinstance(payload, dict):
            raise ValueError(f"it is a {type(payload).__name__}")
        return payload
    except RequestError as refused:
        return as_json({"error": refused.problem}, refused.status)
    except RecursionError:
        return as_json({"error": "the request is not a JSON object: it is nested too deeply"}, 400)
    except ValueError as error:
        return as_json({"error": f"the request is not a JSON object: {error}"}, 400)
    except ClientDisconnect:
        return Response(status_code=499)


def _refuse_constant(name: str) -> object:
    """Raise `ValueError` for NaN and Infinity, which JSON does not have but Python reads."""
    raise ValueError(f"{name} is no number of JSON")


def error_data(error: PinesyError) -> dict[str, Any]:
    """Return an error for the page, with its line and column in the rules, if any."""
    content = {"error": str(error), "kind": type(error).__name__}
    if isinstance(error, RulesTextError):
        return content | {"line": error.line, "column": error.column}
    return content


def serve(
    open_session: Callable[[], Session],
    port: int | None,
    open_browser: bool,
    say: Callable[[str], None],
) -> None:
    """Serve a studio until it is interrupted.

    Parameters
    ----------
    open_session : reads the rules or the model; the page is served meanwhile. An error that it
        raises ends the studio.
    port : where to listen; None for the first free one from `PORT` on, 0 for any
    say : prints a line
    """
    opened: Future[Session] = Future()

    def settle() -> None:
        try:
            opened.set_result(open_session())
        except BaseException as error:  # raised again below
            opened.set_exception(error)

    Thread(target=settle, daemon=True, name="pinesy-open").start()
    with suppress(TimeoutError):  # what fails at once is not announced first
        opened.result(OPEN_AT_ONCE)
    with listening(port) as bound, suppress(KeyboardInterrupt):
        bound_port = bound.getsockname()[1]

        def address(code: str) -> str:
            return f"http://{HOST}:{bound_port}/?code={code}"

        access = Access(lambda code: say(f"The studio is at {address(code)}"))
        if port is None and bound_port != PORT:
            say(f"Port {PORT} is in use, perhaps by another studio; this one is on {bound_port}.")
        access.offer_code()
        say(
            "The address works once, and its browser has access from then on. If another one "
            "asks, a new address is shown here. Ctrl-C ends the studio."
        )
        server = Announcing(
            uvicorn.Config(
                application(opened, access),
                log_level="critical",  # endpoints log their own errors; the rest is of no use
                access_log=False,
                lifespan="off",
                timeout_graceful_shutdown=GRACE,
            )
        )

        def end_on_failure(_opened: object) -> None:
            server.should_exit = opened.exception() is not None

        opened.add_done_callback(end_on_failure)
        if not open_browser:
            server.run(sockets=[bound])
            _raise_failure(opened)
            return
        with redirect_file(address(access.new_code())) as path:

            def open_page() -> None:
                if not webbrowser.open(path.as_uri()):
                    say("No browser could be started; open the address yourself.")

            server.announce = open_page
            server.run(sockets=[bound])
        _raise_failure(opened)


def _raise_failure(opened: "Future[Session]") -> None:
    """Raise the error with which a session failed to open."""
    if opened.done() and (error := opened.exception()) is not None:
        raise error


@contextmanager
def redirect_file(address: str) -> Iterator[Path]:
    """Write a page that redirects to an address, and delete it after the block.

    Only this user can read it. A browser is started with the path of the file, because every user
    of the machine can read the command line of a program.
    """
    with scratch_directory() as directory:  # of this user alone
        path = directory / "studio.html"
        with atomic_text(path) as stream:
            stream.write(
                "<!doctype html><meta charset='utf-8'><title>pinesy studio</title>"
                f"<meta http-equiv='refresh' content='0; url={address}'>"
                f"<p><a href='{address}'>To the studio</a></p>\n"
            )
        path.chmod(0o600)
        yield path


def listening(port: int | None) -> socket.socket:
    """Return a socket on loopback, at a port or the first free one; `DataError` if there is none.

    Two studios never share a port: the second one raises.
    """
    for candidate in range(PORT, PORT + PORTS) if port is None else [port]:
        try:
            return bound_socket(HOST, candidate)
        except OSError as error:
            reason = error.strerror or error
    if port is None:
        raise DataError(f"no port from {PORT} to {PORT + PORTS - 1} is free; give another: --port")
    raise DataError(
        f"port {port} cannot be used: {reason}; leave out --port to take a free one, or end what "
        "uses it"
    )

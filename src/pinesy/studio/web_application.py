"""The studio as a web application, served on loopback: page, files, and endpoints of the rooms.

A room is a module ``<name>_room.py`` here, with `ENDPOINTS`: functions from the session and what is
asked (a JSON object) to what JSON can hold, by name; and ``static/rooms/<name>.js``, an ES module
that exports ``open(place, studio)``: it fills the element `place`, once, when its tab is first
chosen. The page asks for an endpoint by ``studio.ask("<name>/<endpoint>", {...})``. A
`PinesyError` that a function raises is shown to the user with its message.
"""

import json
import logging
import socket
import webbrowser
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from pinesy.exceptions import DataError, PinesyError, RulesTextError
from pinesy.studio import data_room, learn_room, rules_room, sample_room, shell_room, why_room
from pinesy.studio.guard import Guard, new_token
from pinesy.studio.session import Endpoint, Session

STATIC = Path(__file__).parent / "static"
#: What the exported page uses too.
SHARED = Path(__file__).parents[1] / "exchange" / "web"
#: Bytes that a request may hold: a text of rules, or images.
MOST_BYTES = 32 * 1024 * 1024
log = logging.getLogger("pinesy.studio")
HOST = "127.0.0.1"
#: The first port that is tried, and how many after it.
PORT, PORTS = 8765, 50
#: Seconds that open requests get when the studio ends.
GRACE = 2


class Room(NamedTuple):
    """A tab of the page, and what it may ask for."""

    name: str
    title: str
    endpoints: Mapping[str, Endpoint]


#: In the order of their tabs.
ROOMS = (
    Room("rules", "Rules", rules_room.ENDPOINTS),
    Room("sample", "Sample", sample_room.ENDPOINTS),
    Room("why", "Why", why_room.ENDPOINTS),
    Room("data", "Data", data_room.ENDPOINTS),
    Room("learn", "Learn", learn_room.ENDPOINTS),
)


def endpoint(room: str, name: str) -> Endpoint | None:
    """Return what answers ``room/name``; None if nothing does."""
    if room == "shell":
        return shell_room.ENDPOINTS.get(name)
    return next((r.endpoints.get(name) for r in ROOMS if r.name == room), None)


class TooLargeError(Exception):
    """A request with more than `MOST_BYTES`."""


def application(session: Session, token: str) -> Starlette:
    """Return the application; every request needs the token (see `pinesy.studio.guard`)."""
    routes: list[Route | Mount] = [
        Route("/", _page),
        Route("/api/rooms", _rooms),
        Route("/api/{room}/{name}", _answer, methods=["POST"]),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    if SHARED.is_dir():
        routes.append(Mount("/shared", StaticFiles(directory=SHARED)))
    app = Starlette(routes=routes, middleware=[Middleware(Guard, token=token)])
    app.state.session = session
    return app


async def _page(_request: Request) -> Response:
    return FileResponse(STATIC / "index.html")


async def _rooms(_request: Request) -> Response:
    return as_json([{"name": room.name, "title": room.title} for room in ROOMS])


async def _answer(request: Request) -> Response:
    """Run an endpoint beside the server's loop, and make JSON of what it returns or raises."""
    found = endpoint(request.path_params["room"], request.path_params["name"])
    if found is None:
        return as_json({"error": "there is no such endpoint"}, 404)
    try:
        asked = _object(await _body(request))
    except TooLargeError:
        return as_json({"error": f"a request holds at most {MOST_BYTES:,} bytes"}, 413)
    except ValueError as error:
        return as_json({"error": f"the request is not a JSON object: {error}"}, 400)
    except ClientDisconnect:
        return Response(status_code=499)
    try:
        return as_json(await run_in_threadpool(found, request.app.state.session, asked))
    except PinesyError as error:
        return as_json(described(error), 422)
    except Exception as error:
        log.exception("%s failed", request.url.path)
        what = f"{type(error).__name__}: {error}"
        return as_json({"error": f"the studio failed; the terminal tells more: {what}"}, 500)


async def _body(request: Request) -> bytes:
    content = bytearray()
    async for part in request.stream():
        content += part
        if len(content) > MOST_BYTES:
            raise TooLargeError
    return bytes(content)


def _object(body: bytes) -> Mapping[str, Any]:
    try:
        asked = json.loads(body or b"{}")
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(asked, dict):
        raise ValueError(f"it is a {type(asked).__name__}")
    return asked


def described(error: PinesyError) -> dict[str, Any]:
    """Return an error as the page shows it, with its place in the text of rules if it has one."""
    found = {"error": str(error), "kind": type(error).__name__}
    if isinstance(error, RulesTextError):
        return found | {"line": error.line, "column": error.column}
    return found


def as_json(content: object, status: int = 200) -> Response:
    """Return an answer; numbers are those of Python, to the last bit."""
    text = json.dumps(content, allow_nan=False, separators=(",", ":"))
    return Response(text, status, media_type="application/json")


def serve(
    session: Session, port: int | None, open_browser: bool, say: Callable[[str], None]
) -> None:
    """Serve a studio until it is interrupted.

    Parameters
    ----------
    port : where to listen; None for the first free one from `PORT` on, 0 for any
    say : prints a line
    """
    with listening(port) as bound, suppress(KeyboardInterrupt):  # from the line that says so on
        token, number = new_token(), bound.getsockname()[1]
        address = f"http://{HOST}:{number}/?token={token}"
        if port is None and number != PORT:
            say(f"Port {PORT} is in use, perhaps by another studio; this one is on {number}.")
        say(f"The studio is at {address}")
        say("Whoever has this address can use it. Ctrl-C ends the studio.")
        server = Announcing(
            uvicorn.Config(
                application(session, token),
                log_level="critical",  # endpoints tell their own errors; the rest is of no use
                access_log=False,
                lifespan="off",
                timeout_graceful_shutdown=GRACE,
            )
        )
        server.announce = (lambda: _open(address, say)) if open_browser else None
        server.run(sockets=[bound])


class Announcing(uvicorn.Server):
    """A server that says when it can be asked."""

    announce: Callable[[], object] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to listen, then announce it."""
        await super().startup(sockets)
        if self.started and self.announce is not None:
            self.announce()


def _open(address: str, say: Callable[[str], None]) -> None:
    if not webbrowser.open(address):
        say("No browser could be started; open the address yourself.")


def listening(port: int | None) -> socket.socket:
    """Return a socket on loopback, at a port or the first free one; `DataError` if there is none.

    Two sockets never share a port: who comes second is told.
    """
    tried = range(PORT, PORT + PORTS) if port is None else [port]
    for number in tried:
        # asyncio sends at once (TCP_NODELAY) only where the protocol is named: else 40 ms are lost.
        bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind((HOST, number))
            bound.listen(128)
            return bound
        except OSError as error:
            bound.close()
            reason = error.strerror or error
    if port is None:
        raise DataError(f"no port from {PORT} to {PORT + PORTS - 1} is free; give another: --port")
    raise DataError(
        f"port {port} cannot be used: {reason}; leave out --port to take a free one, or end what "
        "uses it"
    )

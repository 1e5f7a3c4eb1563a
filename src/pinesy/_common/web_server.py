"""What the servers of pinesy share: names of this machine, secrets, JSON, sockets, threads."""

import asyncio
import json
import re
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from secrets import compare_digest
from threading import Thread
from typing import Any

import uvicorn
from starlette.requests import Request
from starlette.responses import Response

from pinesy._common.console import Watch, watched_by
from pinesy.exceptions import DataError

#: Valid Host headers of servers on loopback, against DNS rebinding: this machine, at any port.
LOCAL_HOST = re.compile(r"(127\.0\.0\.1|localhost|\[::1\])(:[0-9]{1,5})?", re.IGNORECASE)


def equals_secret(text: str, secret: str) -> bool:
    """Compare a text with a secret in constant time."""
    return compare_digest(text.encode(errors="replace"), secret.encode())


class RequestError(Exception):
    """A request that is refused.

    Attributes
    ----------
    status : of HTTP
    problem : what is wrong, and the cure
    headers : of the response
    """

    def __init__(self, status: int, problem: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(problem)
        self.status, self.problem, self.headers = status, problem, headers


async def read_body(request: Request, max_bytes: int) -> bytes:
    """Return the body of a request; raise `RequestError` as soon as it is too large."""
    content = bytearray()
    async for part in request.stream():
        content += part
        if len(content) > max_bytes:
            raise RequestError(413, f"a request holds at most {max_bytes:,} bytes")
    return bytes(content)


def as_json(
    content: object, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Return a JSON response; floats are written with their repr."""
    text = json.dumps(content, allow_nan=False, separators=(",", ":"))
    return Response(text, status, headers, media_type="application/json")


def bound_socket(host: str, port: int) -> socket.socket:
    """Return a listening socket, or raise `OSError`. Two sockets never share a port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends at once (TCP_NODELAY) only where the protocol is named: else 40 ms are lost.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
        bound.listen(128)
    except OSError:
        bound.close()
        raise
    return bound


class Announcing(uvicorn.Server):
    """A server that calls `announce` when it listens."""

    announce: Callable[[], object] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to listen, then announce it."""
        await super().startup(sockets)
        if self.started and self.announce is not None:
            self.announce()


class RequestThreads:
    """A pool of daemon threads: the end of the server does not wait for them.

    Parameters
    ----------
    size : threads that work at a time
    max_waiting : requests that may wait for one
    """

    def __init__(self, size: int, max_waiting: int) -> None:
        self._free, self._waiting = asyncio.Semaphore(size), 0
        self._max_waiting = max_waiting

    async def run(self, work: Callable[[], Any], seconds: float | None = None) -> Any:
        """Return what some work returns; it is stopped if nobody waits for it any longer.

        `seconds` is the time limit of the work, after which it raises `WorkStopped`.
        """
        if self._waiting >= self._max_waiting:
            raise DataError("the server is busy; try again in a moment")
        self._waiting += 1
        try:
            await self._free.acquire()
        finally:
            self._waiting -= 1
        try:
            return await _in_thread(work, Watch(seconds))
        finally:
            self._free.release()


async def _in_thread(work: Callable[[], Any], watch: Watch) -> Any:
    loop = asyncio.get_running_loop()
    result: asyncio.Future[Any] = loop.create_future()

    def settle(content: Any, error: BaseException | None) -> None:
        if result.cancelled():
            return
        if error is None:
            result.set_result(content)
        else:
            result.set_exception(error)

    def watched() -> None:
        content, failure = None, None
        try:
            with watched_by(watch):
                content = work()
        except BaseException as error:  # the request gets it, whatever it is
            failure = error
        with suppress(RuntimeError):  # the server has ended
            loop.call_soon_threadsafe(settle, content, failure)

    Thread(target=watched, daemon=True, name="pinesy-request").start()
    try:
        return await result
    finally:
        watch.stop()

"""Runs a studio on loopback: finds a port, prints the address, opens the browser."""

import socket
import webbrowser
from collections.abc import Callable
from contextlib import suppress

import uvicorn

from pinesy.exceptions import DataError
from pinesy.studio.guard import new_token
from pinesy.studio.session import Session
from pinesy.studio.web_application import application

HOST = "127.0.0.1"
#: The first port that is tried, and how many after it.
PORT, PORTS = 8765, 50
#: Seconds that open requests get when the studio ends.
GRACE = 2


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

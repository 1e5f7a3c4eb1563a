"""Who may talk to a studio: the one who has its token, from its own page, on this machine.

A studio listens on loopback, where every program and every web page of this machine's browser can
reach it. So each request must name this machine (``Host``; else a foreign name that points here
would do), come from the studio's own page (``Origin``, ``Sec-Fetch-Site``) and bring the token: in
the address that the browser is started with, then in a cookie; programs send it as a header.
"""

from secrets import compare_digest, token_urlsafe
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: The names of this machine that a browser may have been sent to.
HOSTS = frozenset(["127.0.0.1", "localhost", "::1"])
TOKEN_HEADER = "x-pinesy-token"
#: Nothing but the studio's own files, no script or style within a page, no page around it; and
#: the browser itself refuses to make markup of texts.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


def new_token() -> str:
    """Return a token that nobody guesses."""
    return token_urlsafe(24)


class Guard:
    """Stands before an application: refuses what `refusal` says, and adds `HEADERS` to answers."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self.app, self.token = app, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        headers = Headers(scope=scope)
        query = parse_qs(scope["query_string"].decode("latin-1"))
        in_address = scope["path"] == "/" and self._fits(query.get("token", [""])[0])
        problem = self.refusal(headers, in_address)

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    given[name] = value
                if in_address and not problem:
                    given.append("set-cookie", self._cookie(headers))
            await send(message)

        answer = JSONResponse({"error": problem}, 403) if problem else self.app
        await answer(scope, receive, sending)

    def refusal(self, headers: Headers, known: bool) -> str:
        """Return why a request is refused; nothing if it is not.

        `known` says that the token was in the address.
        """
        host = headers.get("host", "")
        origin = headers.get("origin", f"http://{host}")
        if urlsplit(f"//{host}").hostname not in HOSTS:
            return "this studio is for this machine alone: its address is 127.0.0.1 or localhost"
        if origin != f"http://{host}" or (
            not known and headers.get("sec-fetch-site", "none") in ("cross-site", "same-site")
        ):
            return "requests from other pages are refused"
        cookie = cookie_parser(headers.get("cookie", "")).get(cookie_name(host), "")
        if known or self._fits(headers.get(TOKEN_HEADER, "")) or self._fits(cookie):
            return ""
        return (
            "the token is missing or is that of another studio; open the address that "
            "pinesy studio printed"
        )

    def _fits(self, given: str) -> bool:
        return compare_digest(given.encode(), self.token.encode())

    def _cookie(self, headers: Headers) -> str:
        name = cookie_name(headers.get("host", ""))
        return f"{name}={self.token}; Path=/; HttpOnly; SameSite=Strict"


def cookie_name(host: str) -> str:
    """Return the name of a studio's cookie: browsers share cookies among the ports of a machine.

    Examples
    --------
    >>> cookie_name("127.0.0.1:8765")
    'pinesy-8765'
    """
    return f"pinesy-{urlsplit(f'//{host}').port or 80}"

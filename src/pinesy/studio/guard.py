"""Authentication of a studio's requests: from its own page, on this machine, with a token.

A studio listens on loopback, where every program and every web page of this machine's browser can
reach it. So each request must name this machine (``Host``, against DNS rebinding) and come from the
studio's own page (``Origin``, ``Sec-Fetch-Site``, against cross-site requests). All endpoints need
the token of this run, in a header.

The token is not in the address: command lines, which every user of the machine can read, and
histories contain addresses. Nor is it in a cookie, which browsers send to every port. The address
has a one-time code, which the page exchanges for the token (``/api/enter``). The page keeps the
token in its ``localStorage``, which belongs to this port.
"""

from collections.abc import Callable
from secrets import token_urlsafe

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pinesy._common.web_server import LOCAL_HOST, equals_secret

TOKEN_HEADER = "x-pinesy-token"
#: The endpoint that exchanges a code for the token.
ENTRANCE = "/api/enter"
#: Paths without a token: files of the package, which browsers request without our headers.
#: Previews are opened by a key that works once.
PREVIEW = "/preview/"
OPEN_PATHS, OPEN_DIRECTORIES = ("/", ENTRANCE), ("/static/", "/shared/", PREVIEW)
#: The content security policy: only the studio's own files, no inline scripts or styles, no frames,
#: no HTML from strings.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
#: That of a preview: a page with scripts of its own, in an origin of its own, so that it cannot use
#: the token of the studio. The page restricts its scripts further.
PREVIEW_POLICY = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class Access:
    """The token of one run of a studio, and the codes that are exchanged for it.

    Parameters
    ----------
    offer : prints a code where only the user reads it, in the terminal
    """

    def __init__(self, offer: Callable[[str], None] = lambda _code: None) -> None:
        self.token = token_urlsafe(24)
        self._offer = offer
        self._codes: set[str] = set()
        self._offered = ""

    def new_code(self) -> str:
        """Return a new one-time code."""
        code = token_urlsafe(24)
        self._codes.add(code)
        return code

    def offer_code(self) -> None:
        """Print a new code, unless the last printed one is still valid."""
        if self._offered not in self._codes:
            self._offered = self.new_code()
            self._offer(self._offered)

    def has_token(self, headers: Headers) -> bool:
        """Return whether a request has the token."""
        return equals_secret(headers.get(TOKEN_HEADER, ""), self.token)

    def spend(self, code: object) -> bool:
        """Return whether a code is valid, and invalidate it."""
        matching = {c for c in self._codes if isinstance(code, str) and equals_secret(code, c)}
        self._codes -= matching
        return bool(matching)


class Guard:
    """ASGI middleware: refuses requests (see `refusal`), and adds `HEADERS` to responses."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self.app, self.access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        problem = self.refusal(Headers(scope=scope), scope["path"])

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                if scope["path"].startswith(PREVIEW):
                    headers["content-security-policy"] = PREVIEW_POLICY
            await send(message)

        answer = JSONResponse({"error": problem}, 403) if problem else self.app
        await answer(scope, receive, send_with_headers)

    def refusal(self, headers: Headers, path: str) -> str:
        """Return why a request is refused; an empty text if it is not."""
        host = headers.get("host", "")
        if not LOCAL_HOST.fullmatch(host):
            return "this studio is for this machine alone: its address is 127.0.0.1 or localhost"
        # The page itself may be opened from anywhere, as by a click on its address.
        is_foreign = headers.get("sec-fetch-site", "none") in ("cross-site", "same-site")
        if headers.get("origin", f"http://{host}") != f"http://{host}" or (
            is_foreign and path != "/"
        ):
            return "requests from other pages are refused"
        is_open = path in OPEN_PATHS or path.startswith(OPEN_DIRECTORIES)
        if is_open or self.access.has_token(headers):
            return ""
        return (
            "the token is missing or is that of another studio; open the last address that "
            "pinesy studio shows in its terminal"
        )

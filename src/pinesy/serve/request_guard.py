"""Who may ask the service: those with its token or, without one, programs of this machine.

Without a token the service answers on loopback only, where every program and every web page of the
machine's browser can reach it. So a request must name this machine (``Host``, against DNS
rebinding) and come from no other page (``Origin``, ``Sec-Fetch-Site``).
"""

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pinesy._common.web_server import LOCAL_HOST, RequestError, as_json, equals_secret

#: What all responses have: they are data, never a page, and no cache keeps them.
HEADERS = {
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
}
#: The path that answers without a token, and says little then.
OPEN_PATH = "/health"


class RequestGuard:
    """ASGI middleware: refuses requests, and adds `HEADERS` to responses.

    Parameters
    ----------
    token : that requests need, as ``Authorization: Bearer TOKEN``; None for none
    any_host : whether a service without a token answers requests that name another machine
    """

    def __init__(self, app: ASGIApp, token: str | None, any_host: bool = False) -> None:
        self.app, self.token, self.any_host = app, token, any_host

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        try:
            self.check(Headers(scope=scope), scope)
        except RequestError as error:
            answer = as_json({"error": error.problem}, error.status, error.headers)
            await answer(scope, receive, send_with_headers)
            return
        await self.app(scope, receive, send_with_headers)

    def check(self, headers: Headers, scope: Scope) -> None:
        """Raise `RequestError` for a request that is refused; note whether it has the token."""
        scope["has_token"] = True
        if self.token is None:
            if not self.any_host:
                _check_local(headers)
            return
        scheme, _, token = headers.get("authorization", "").partition(" ")
        scope["has_token"] = scheme.lower() == "bearer" and equals_secret(token, self.token)
        if not scope["has_token"] and scope["path"] != OPEN_PATH:
            raise RequestError(
                401,
                "the token is missing or wrong; send the header Authorization: Bearer TOKEN",
                {"www-authenticate": "Bearer"},
            )


def _check_local(headers: Headers) -> None:
    host = headers.get("host", "")
    if not LOCAL_HOST.fullmatch(host):
        raise RequestError(
            403,
            "this service is for this machine alone: its address is 127.0.0.1 or localhost; "
            "start it with --token-file to use other names",
        )
    is_foreign = headers.get("sec-fetch-site", "none") in ("cross-site", "same-site")
    if is_foreign or headers.get("origin", f"http://{host}") != f"http://{host}":
        raise RequestError(403, "requests from web pages of other addresses are refused")

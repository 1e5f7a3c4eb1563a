"""The service: endpoints over HTTP, limits, and a model that is replaced when its file changes."""

import asyncio
import json
import logging
import re
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from secrets import token_hex
from typing import Any, NamedTuple

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from pinesy._common.console import WorkStopped
from pinesy._common.web_server import RequestError, RequestThreads, as_json, read_body
from pinesy.exceptions import DataError, PinesyError
from pinesy.samples.file_formats import decode_json
from pinesy.serve.decision_log import DecisionLog, time_text
from pinesy.serve.model_file_watch import ModelFileWatch
from pinesy.serve.openapi import openapi_document
from pinesy.serve.request_guard import RequestGuard
from pinesy.serve.served_model import ServedModel

#: Requests of many samples that are worked on at a time, beside the loop of the server.
THREADS = 2
#: Bytes of a body, and processor time of a sample, up to which a request is answered in the loop of
#: the server: a thread would cost more.
MAX_INLINE_BYTES, MAX_INLINE_SECONDS = 16_384, 0.005
#: One of so many requests is timed, and counts so much in the typical time of a sample.
TIMED_EVERY, NEWEST = 16, 0.25
#: The header with the id of a request, which answers repeat; one is made if there is none.
REQUEST_ID = "x-request-id"
VALID_ID = re.compile(r"[\w.:-]{1,100}")
log = logging.getLogger("pinesy.serve")


class Limits(NamedTuple):
    """What requests may ask for.

    Attributes
    ----------
    max_bytes : of a body
    max_samples : of a request
    max_requests : that are worked on or wait at a time
    seconds : that a body may take to arrive, and then its answer
    """

    max_bytes: int = 1_000_000
    max_samples: int = 1_000
    max_requests: int = 64
    seconds: float = 10.0


@dataclass(frozen=True)
class Endpoint:
    """An endpoint that answers samples.

    Attributes
    ----------
    answer : returns the answers of a model to samples
    is_logged : whether its answers are decisions, which the log has
    """

    answer: Callable[[ServedModel, Sequence[Any]], list[dict[str, Any]]]
    is_logged: bool


ENDPOINTS = {
    "infer": Endpoint(ServedModel.infer, True),
    "decide": Endpoint(ServedModel.decide, True),
    "explain": Endpoint(ServedModel.explain, False),
}


class Service:
    """Answers requests by a model.

    Parameters
    ----------
    model : a model that was checked
    log : of decisions; None for none
    watch : of the model's file; None to keep the model
    """

    def __init__(
        self,
        model: ServedModel,
        log: DecisionLog | None = None,
        limits: Limits = Limits(),  # noqa: B008
        watch: ModelFileWatch | None = None,
    ) -> None:
        self.model, self.log, self.limits, self.watch = model, log, limits, watch
        self.started = time.monotonic()
        self.counts: Counter[str] = Counter()
        self._threads = RequestThreads(THREADS, limits.max_requests)
        self._active = self._n_requests = 0
        self._typical_seconds = 0.0
        self._schema: tuple[str, dict[str, Any]] = ("", {})
        if log is not None:
            log.describe(model)

    # --- requests ---------------------------------------------------------------------------------

    async def answer(self, name: str, request: Request) -> Response:
        """Return the response of an endpoint."""
        identifier = request.headers.get(REQUEST_ID, "")
        if not VALID_ID.fullmatch(identifier):
            identifier = token_hex(8)
        headers = {REQUEST_ID: identifier}
        try:
            with self._slot():
                content = await self._answered(name, request, identifier)
            self.counts["answered"] += 1
            return as_json(content, 200, headers)
        except RequestError as error:
            status, text, headers = error.status, error.problem, headers | dict(error.headers or {})
        except PinesyError as error:
            status, text = 422, str(error)
        self.counts["refused" if status != 503 else "busy"] += 1
        return as_json({"error": text}, status, headers)

    @contextmanager
    def _slot(self) -> Iterator[None]:
        """Count a request while it is worked on; refuse one that is too many."""
        if self._active >= self.limits.max_requests:
            raise _busy(f"{self.limits.max_requests} requests are worked on already")
        self._active += 1
        try:
            yield
        finally:
            self._active -= 1

    async def _answered(self, name: str, request: Request, identifier: str) -> dict[str, Any]:
        """Read a request, answer it and log the decisions."""
        try:
            async with asyncio.timeout(self.limits.seconds):
                body = await read_body(request, self.limits.max_bytes)
        except TimeoutError:
            seconds = f"{self.limits.seconds:g}"
            raise RequestError(408, f"the body took more than {seconds} seconds") from None
        model, endpoint = self.model, ENDPOINTS[name]

        def work(contents: Sequence[Mapping[str, Any]] | None = None) -> tuple[Any, ...]:
            contents = (
                read_samples_of(body, self.limits.max_samples) if contents is None else contents
            )
            samples, notices = model.reader.read(contents)
            return contents, endpoint.answer(model, samples), notices

        contents, answers, notices = await self._run(work, body, name)
        if endpoint.is_logged and self.log is not None:
            self._write(self.log, model, name, identifier, contents, answers)
        response: dict[str, Any] = {"request": identifier, "model": model.identity}
        if name == "decide" and model.selective is not None:
            response["promise"] = model.selective.promise
        return response | {"answers": answers} | ({"notices": notices} if notices else {})

    async def _run(self, work: Callable[..., Any], body: bytes, name: str) -> Any:
        """Do the work of a request here if it is short, else in a thread."""
        is_short = name != "explain" and self._typical_seconds <= MAX_INLINE_SECONDS
        contents = None
        if is_short and len(body) <= MAX_INLINE_BYTES:
            contents = read_samples_of(body, self.limits.max_samples)
            if len(contents) == 1:
                return self._timed(work, contents, True)
        try:
            return await self._threads.run(
                lambda: self._timed(work, contents, name != "explain"), self.limits.seconds
            )
        except WorkStopped:
            seconds = f"{self.limits.seconds:g}"
            raise _busy(
                f"the answer took more than {seconds} seconds; send fewer samples"
            ) from None

    def _timed(self, work: Callable[..., Any], contents: Any, counts: bool) -> Any:
        """Do the work of a request; sometimes note how long a sample took."""
        self._n_requests += 1
        if not counts or self._n_requests % TIMED_EVERY:
            return work(contents)
        start = time.thread_time()
        result = work(contents)
        seconds = (time.thread_time() - start) / max(1, len(result[0]))
        self._typical_seconds += NEWEST * (seconds - self._typical_seconds)
        return result

    def _write(
        self,
        decision_log: DecisionLog,
        model: ServedModel,
        name: str,
        identifier: str,
        contents: Sequence[Mapping[str, Any]],
        answers: Sequence[Mapping[str, Any]],
    ) -> None:
        """Log decisions; an answer that cannot be logged is not given."""
        try:
            pairs = enumerate(zip(contents, answers, strict=True))
            decision_log.write(
                [
                    decision_log.record(model, name, identifier, index, content, answer)
                    for index, (content, answer) in pairs
                ]
            )
        except DataError as error:
            log.error("%s", error)
            raise _busy(f"the decision cannot be logged: {error}") from None

    # --- the model, its schema and its state ------------------------------------------------------

    def schema(self) -> dict[str, Any]:
        """Return the OpenAPI document of the model."""
        if self._schema[0] != self.model.sha256:
            document = openapi_document(self.model, self.limits.max_samples)
            self._schema = self.model.sha256, document
        return self._schema[1]

    def health(self, has_token: bool) -> dict[str, Any]:
        """Return the state of the service; without the token only that it runs."""
        problem = "" if self.watch is None else self.watch.problem
        content: dict[str, Any] = {"status": "reload failed" if problem else "ok"}
        if not has_token:
            return content
        content |= {
            "model": self.model.identity,
            "loaded_seconds_ago": round(time.time() - self.model.loaded, 3),
            "running_seconds": round(time.monotonic() - self.started, 3),
            "decides": self.model.selective is not None,
            "log": self.log is not None,
            "active": self._active,
            "requests": {key: self.counts[key] for key in ("answered", "refused", "busy")},
        }
        return content | ({"reload_problem": problem} if problem else {})

    def reload(self) -> bool:
        """Take the model of the file if it changed and passes its checks; return whether it did."""
        if self.watch is None or not self.watch.has_changed():
            return False
        return self._take(self.watch.changed_model(self.model))

    async def watch_file(self) -> None:
        """Look at the model's file again and again; the old model answers meanwhile."""
        while self.watch is not None:
            await asyncio.sleep(self.watch.seconds)
            try:
                if await asyncio.to_thread(self.watch.has_changed):
                    self._take(await asyncio.to_thread(self.watch.changed_model, self.model))
            except Exception as error:  # the service goes on with the old model
                self.watch.fail(error)

    def _take(self, model: ServedModel | None) -> bool:
        """Answer by a model from now on, and log that."""
        if model is None:
            return False
        if self.log is not None:
            self.log.describe(model)
        self.model, self._typical_seconds = model, 0.0
        return True


def _busy(problem: str) -> RequestError:
    return RequestError(503, problem, {"retry-after": "1"})


def read_samples_of(body: bytes, max_samples: int) -> list[dict[str, Any]]:
    """Return the samples in the body of a request, ``{"samples": [{...}, ...]}``."""
    form = 'send {"samples": [{"INPUT": VALUE, ...}, ...]}'
    try:
        content = decode_json(body.decode())
    except UnicodeDecodeError as error:
        raise RequestError(400, f"the body is not UTF-8 (byte {error.start})") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise RequestError(400, f"the body is not JSON: {error.msg} at {where}; {form}") from None
    except RecursionError:
        raise RequestError(400, f"the body nests too deep; {form}") from None
    except (DataError, ValueError) as error:  # such as NaN, or a number of thousands of digits
        raise RequestError(400, f"the body cannot be used: {error}") from None
    if not isinstance(content, dict) or content.keys() != {"samples"}:
        raise RequestError(400, f"the body is not an object with samples alone; {form}")
    samples = content["samples"]
    if not isinstance(samples, list) or not samples:
        raise RequestError(400, f"samples is not a list of one object or more; {form}")
    if len(samples) > max_samples:
        raise RequestError(
            413, f"there are {len(samples):,} samples; a request holds at most {max_samples:,}"
        )
    for index, sample in enumerate(samples):
        if not isinstance(sample, dict):
            raise RequestError(400, f"sample {index + 1} is no object; {form}")
    return samples


# --- the application ------------------------------------------------------------------------------


def application(service: Service, token: str | None = None, any_host: bool = False) -> Starlette:
    """Return the ASGI application of a service.

    Parameters
    ----------
    token : that requests need; None for none
    any_host : whether a service without a token answers requests that name another machine
    """

    def endpoint(name: str) -> Callable[[Request], Any]:
        async def respond(request: Request) -> Response:
            try:
                return await service.answer(name, request)
            except ClientDisconnect:
                return Response(status_code=499)

        return respond

    async def health(request: Request) -> Response:
        return as_json(service.health(request.scope["has_token"]))

    async def schema(_request: Request) -> Response:
        return as_json(service.schema())

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        task = asyncio.create_task(service.watch_file())
        yield
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    return Starlette(
        routes=[
            *(Route(f"/{name}", endpoint(name), methods=["POST"]) for name in ENDPOINTS),
            Route("/health", health),
            Route("/schema", schema),
        ],
        middleware=[Middleware(RequestGuard, token=token, any_host=any_host)],
        exception_handlers={HTTPException: _http_error, Exception: _failure},
        lifespan=lifespan,
    )


async def _http_error(request: Request, error: Exception) -> Response:
    """Return an error of routing as JSON."""
    assert isinstance(error, HTTPException)
    paths = ", ".join(f"POST /{name}" for name in ENDPOINTS)
    problem = f"there is no {request.method} {request.url.path:.80}; there are {paths}, "
    return as_json(
        {"error": f"{problem}GET /health, GET /schema"}, error.status_code, error.headers
    )


async def _failure(request: Request, error: Exception) -> Response:
    """Return an error of the service itself as JSON."""
    log.error("%s failed at %s", request.url.path, time_text(), exc_info=error)
    return as_json({"error": "the service failed; its log on stderr says where"}, 500)

"""Tasks on a Dask cluster, for data in parts: what is submitted, merged, and said when it is lost.

All that workers hold is the result of a task, so what a lost worker held is computed again; only
data that was scattered, and a task that ends every process it runs in, are lost for good.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from functools import reduce
from typing import Any, TypeVar

from pinesy.exceptions import DataError, needing

T = TypeVar("T")
#: Results that one task of a cluster merges.
FAN_IN = 8


def checked_parts(parts: Any) -> Sequence[Any]:
    """Return the parts of the data if they are a list with something in it."""
    if isinstance(parts, str | Mapping) or not isinstance(parts, Sequence) or not parts:
        raise DataError("give the parts of the data as a list with at least one of them in it")
    return parts


class ClusterTasks:
    """Tasks of one call.

    Parameters
    ----------
    client : a `distributed.Client`; None for the current one
    """

    def __init__(self, client: Any) -> None:
        self._client = _checked(client)
        #: The part that a task is about, by the task's key.
        self._places: dict[str, str] = {}

    def given(self, parts: Sequence[Any]) -> Iterator[tuple[str, Any]]:
        """Yield the place of each part, such as ``"part 0"``, and the part.

        Delayed calls become futures; others stay as they are, to go inside a task.
        """
        for number, part in enumerate(parts):
            where = f"part {number}"
            future = self._client.compute(part) if hasattr(part, "__dask_graph__") else part
            if key := getattr(future, "key", None):
                self._places[str(key)] = where
            yield where, future

    def submit(self, function: Any, *arguments: Any, where: str = "") -> Any:
        """Return the future of a call; `where` is the part that it is about."""
        # Not pure: results are named anew, so that equal calls of other runs are not taken for it.
        future = self._client.submit(function, *arguments, pure=False)
        self._places[str(future.key)] = where
        return future

    def share(self, content: Any) -> Any:
        """Return the future of something that many tasks take."""
        return self.submit(_same, content)

    def results(self, futures: Sequence[Any]) -> list[Any]:
        """Return the results of futures."""
        with self._losses_told():
            return list(self._client.gather(list(futures)))

    def merged(self, futures: Sequence[Any], merge: Callable[[T, T], T]) -> T:
        """Return the results of futures merged, by a tree of tasks."""
        while len(futures) > 1:
            groups = [futures[i : i + FAN_IN] for i in range(0, len(futures), FAN_IN)]
            futures = [self.submit(reduce, merge, list(group)) for group in groups]
        result: T = self.results(futures)[0]
        return result

    @contextmanager
    def _losses_told(self) -> Iterator[None]:
        """Tell what Dask gives up on as an error of ours, with a cure."""
        from distributed import KilledWorker

        try:
            yield
        except KilledWorker as error:
            raise DataError(self._deadly(str(error.args[0]), str(error))) from error
        except CancelledError as error:
            raise DataError(self._lost()) from error

    def _deadly(self, key: str, message: str) -> str:
        where = self._places.get(key) or f"the task {key!r:.60}"
        return (
            f"{where}: the workers that it was given to died, one after the other, so that Dask "
            "gave it up; most often they had too little memory: give smaller parts, or start "
            "workers with more (memory_limit=...), and see their logs for another cause "
            f"[{message:.120} ...]"
        )

    def _lost(self) -> str:
        if self._client.status != "running":
            return "the connection to the Dask scheduler was lost; connect a new client and repeat"
        return (
            "a worker was lost, and with it data that cannot be computed again, because it was put "
            "there by client.scatter; give the parts as dask.delayed calls that read them, or "
            "scatter them again with broadcast=True"
        )


def _same(content: T) -> T:
    return content


def _checked(client: Any) -> Any:
    with needing("dask", "work on a cluster needs Dask's"):
        from distributed import Client, get_client
    if client is None:
        try:
            client = get_client()
        except ValueError:
            raise DataError("no Dask client is there; create one, or give client=...") from None
    if not isinstance(client, Client) or client.asynchronous:
        raise DataError(
            f"client is {client!r:.60}; give a distributed.Client that is not asynchronous"
        )
    if client.status != "running":
        raise DataError(f"the Dask client is {client.status}; create a new one")
    return client

"""Tasks on a Dask cluster, for data in parts: submit them, merge their results, report losses.

Workers hold only results of tasks, so the results of a lost worker are computed again; only
scattered data, and a task that kills every worker it runs on, are lost for good.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from functools import reduce
from typing import Any, TypeVar

from pinesy.exceptions import DataError, needing

T = TypeVar("T")
#: Results that one task of a cluster merges.
FAN_IN = 8


def checked_parts(parts: Any) -> Sequence[Any]:
    """Return the parts of the data, or raise `DataError` unless they are a non-empty list."""
    if isinstance(parts, str | Mapping) or not isinstance(parts, Sequence) or not parts:
        raise DataError("give the parts of the data as a list with at least one of them in it")
    return parts


class ClusterTasks:
    """The tasks of one call, such as `learn_distributed`.

    Parameters
    ----------
    client : a `distributed.Client`; None for the current one
    """

    def __init__(self, client: Any) -> None:
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
        self._client: Any = client  # without types
        #: The part of the data that a task works on, by the task's key.
        self._part_of: dict[str, str] = {}

    def named_parts(self, parts: Sequence[Any]) -> Iterator[tuple[str, Any]]:
        """Yield the name of each part, such as ``"part 0"``, and the part.

        Delayed calls become futures; other parts stay as they are, to go inside a task.
        """
        for index, part in enumerate(parts):
            where = f"part {index}"
            future = self._client.compute(part) if hasattr(part, "__dask_graph__") else part
            if key := getattr(future, "key", None):
                self._part_of[str(key)] = where
            yield where, future

    def submit(self, function: Any, *arguments: Any, where: str = "") -> Any:
        """Return the future of a call; `where` names the part of the data that it works on."""
        # Not pure: each call gets a key of its own, so that no result of another run is reused.
        future = self._client.submit(function, *arguments, pure=False)
        self._part_of[str(future.key)] = where
        return future

    def share(self, content: Any) -> Any:
        """Return the future of an argument that many tasks take."""
        return self.submit(_identity, content)

    def results(self, futures: Sequence[Any]) -> list[Any]:
        """Return the results of futures."""
        from distributed import KilledWorker

        try:
            return list(self._client.gather(list(futures)))
        except KilledWorker as error:
            key = str(error.args[0])
            where = self._part_of.get(key) or f"the task {key!r:.60}"
            raise DataError(
                f"{where}: the workers that it was given to died, one after the other, so that "
                "Dask gave it up; most often they had too little memory: give smaller parts, or "
                "start workers with more (memory_limit=...), and see their logs for another cause "
                f"[{error!s:.120} ...]"
            ) from error
        except CancelledError as error:
            if self._client.status != "running":
                raise DataError(
                    "the connection to the Dask scheduler was lost; connect a new client and repeat"
                ) from error
            raise DataError(
                "a worker was lost, and with it data that cannot be computed again, because it was "
                "put there by client.scatter; give the parts as dask.delayed calls that read them, "
                "or scatter them again with broadcast=True"
            ) from error

    def merge(self, futures: Sequence[Any], merge: Callable[[T, T], T]) -> T:
        """Merge the results of futures by a tree of tasks; return the merged result."""
        while len(futures) > 1:
            groups = [futures[i : i + FAN_IN] for i in range(0, len(futures), FAN_IN)]
            futures = [self.submit(reduce, merge, list(group)) for group in groups]
        result: T = self.results(futures)[0]
        return result


def _identity(content: T) -> T:
    return content

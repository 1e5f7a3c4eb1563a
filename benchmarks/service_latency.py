"""Latency and memory of ``pinesy serve``: an open loop of requests over loopback.

``python benchmarks/service_latency.py`` starts the service with 100 rules on the first core, sends
requests at a fixed rate over some connections from the last one, then as fast as they are answered,
and prints a table. A latency counts from the moment that a request is scheduled, so that requests
that wait for a slow one count too (no coordinated omission). ``--minutes 10`` goes on sending at
the rate and prints the memory of the service.
"""

import argparse
import asyncio
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np

VALUES = ("low", "medium", "high")
DECISIONS = ("approve", "review", "reject")
#: Requests that a run sends at most, and seconds that one is waited for.
MAX_REQUESTS, PATIENCE = 1_000_000, 30.0
#: Bodies that are sent in turn.
BODIES = 997
PERCENTS = (50, 90, 99, 99.9)


def hundred_rules() -> str:
    """Return rules of three levels: 4 x 16 on inputs, 2 x 9 on these, 18 on the decision."""
    lines = [f"number x_{i}" for i in range(4)]
    lines += [f"attribute c_{i} in {{a, b, c, d}}" for i in range(4)]
    lines += ["attribute kind in {new, known}"]
    middle = [*(f"m_{i}" for i in range(4)), "s_0", "s_1"]
    lines += [f"attribute {name} in {{{', '.join(VALUES)}}}" for name in middle]
    lines += [f"attribute decision in {{{', '.join(DECISIONS)}}}"]
    for k in range(4):
        x = f"x_{k}"
        bands = [f"{x} < 2", f"2 <= {x} < 5", f"5 <= {x} < 7", f"{x} >= 7"]
        lines += _grid(f"m_{k}", bands, [f"c_{k} == {value}" for value in "abcd"])
    for k in range(2):
        pairs = [[f"m_{2 * k + i} == {value}" for value in VALUES] for i in range(2)]
        lines += _grid(f"s_{k}", *pairs)
    for shift, kind in enumerate(("new", "known")):
        for i, first in enumerate(VALUES):
            for j, second in enumerate(VALUES):
                decision = DECISIONS[(i + j + shift) % 3]
                premise = f"s_0 == {first} and s_1 == {second} and kind == {kind}"
                lines.append(f"if {premise} then decision == {decision} [certainty=0.9]")
    return "\n".join(lines) + "\n"


def _grid(output: str, rows: list[str], columns: list[str]) -> list[str]:
    return [
        f"if {row} and {column} then {output} == {VALUES[(i + j) % 3]} "
        f"[certainty=0.{5 + (3 * i + j) % 5}]"
        for i, row in enumerate(rows)
        for j, column in enumerate(columns)
    ]


def request_bodies(rng: random.Random) -> list[bytes]:
    """Return requests of one sample each."""
    requests = []
    for _ in range(BODIES):
        sample: dict[str, object] = {f"x_{i}": rng.randrange(100) / 10 for i in range(4)}
        sample |= {f"c_{i}": rng.choice("abcd") for i in range(4)}
        sample["kind"] = rng.choice(["new", "known"])
        body = json.dumps({"samples": [sample]}).encode()
        head = f"POST /infer HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: {len(body)}\r\n\r\n"
        requests.append(head.encode() + body)
    return requests


class Connection:
    """A connection to the service, over which one request after the other is sent."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    @classmethod
    async def open(cls, port: int) -> "Connection":
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    async def send(self, request: bytes) -> int:
        """Send a request, read its response, and return the status."""
        self.writer.write(request)
        head = await self.reader.readuntil(b"\r\n\r\n")
        size = re.search(rb"content-length: (\d+)", head)
        assert size is not None, head
        await self.reader.readexactly(int(size[1]))
        return int(head[9:12])


async def open_loop(
    port: int, connections: int, rate: float, seconds: float, requests: list[bytes]
) -> tuple[np.ndarray, int]:
    """Send at a rate over all connections in turn; return latencies in ms, and the failures.

    A request whose connection still waits for an answer is sent as soon as that is there, and its
    latency counts from the time it was scheduled for.
    """
    n = min(MAX_REQUESTS, int(rate * seconds))
    latencies, failures = np.full(n, np.inf), 0
    start = time.perf_counter() + 0.1

    async def client(first: int) -> None:
        nonlocal failures
        connection = await Connection.open(port)
        for index in range(first, n, connections):
            due = start + index / rate
            if (wait := due - time.perf_counter()) > 0:
                await asyncio.sleep(wait)
            request = requests[index % len(requests)]
            failures += await asyncio.wait_for(connection.send(request), PATIENCE) != 200
            latencies[index] = 1e3 * (time.perf_counter() - due)
        connection.writer.close()

    await asyncio.gather(*map(client, range(min(connections, n))))
    return latencies, failures


async def closed_loop(
    port: int, connections: int, seconds: float, requests: list[bytes]
) -> tuple[float, int]:
    """Send as fast as requests are answered; return the answers a second, and the failures."""
    answered = failures = 0
    end = time.perf_counter() + seconds

    async def client(first: int) -> None:
        nonlocal answered, failures
        connection, index = await Connection.open(port), first
        while time.perf_counter() < end and answered < MAX_REQUESTS:
            status = await asyncio.wait_for(
                connection.send(requests[index % len(requests)]), PATIENCE
            )
            failures += status != 200
            answered, index = answered + 1, index + connections
        connection.writer.close()

    start = time.perf_counter()
    await asyncio.gather(*map(client, range(connections)))
    return answered / (time.perf_counter() - start), failures


@contextmanager
def service(rules: int, log: bool) -> Iterator[tuple[int, int]]:
    """Start the service in a process of its own; yield its port and its process id."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "hundred.rules"
        text = hundred_rules()
        assert len(re.findall("^if ", text, re.MULTILINE)) == rules
        path.write_text(text)
        command = [sys.executable, "-m", "pinesy", "serve", str(path), "--port", "0"]
        if log:
            command += ["--log", str(Path(name) / "decisions.jsonl"), "--log-bytes", "10000000"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            port = re.search(r":(\d+) ", line)
            assert port is not None, f"the service did not start: {line}"
            pin(process.pid, 0)
            yield int(port[1]), process.pid
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(PATIENCE)
            process.kill()


def pin(process: int, core: int) -> None:
    """Keep a process on one core, where the system can."""
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0)) if process else list(range(os.cpu_count() or 1))
        os.sched_setaffinity(process, {cores[core]})


def memory(process: int) -> float:
    """Return the resident memory of a process in MB."""
    with suppress(OSError):
        for line in Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1024
    return float("nan")


def processor_seconds(process: int) -> float:
    """Return the processor time that a process has used."""
    with suppress(OSError):
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return float("nan")


def run(arguments: argparse.Namespace) -> None:
    requests = request_bodies(random.Random(0))
    with service(100, arguments.log) as (port, process):
        pin(0, -1)
        connections, rate = arguments.connections, arguments.rate
        asyncio.run(open_loop(port, connections, rate, arguments.warm_up, requests))
        before = processor_seconds(process)
        latencies, failures = asyncio.run(
            open_loop(port, connections, rate, arguments.seconds, requests)
        )
        used = (processor_seconds(process) - before) / len(latencies)
        shares = np.percentile(latencies, PERCENTS)
        print(f"{rate:g} requests a second, {connections} connections, {len(latencies):,} requests")
        for percent, latency in zip(PERCENTS, shares, strict=True):
            print(f"  p{percent:<6g}{latency:8.2f} ms")
        print(f"  most   {latencies.max():8.2f} ms; failures {failures}")
        print(f"  processor time of a request {1e3 * used:.2f} ms")
        speed, failures = asyncio.run(closed_loop(port, connections, arguments.seconds, requests))
        print(f"saturated: {speed:,.0f} requests a second; failures {failures}")
        soak(arguments, port, process, requests)


def soak(arguments: argparse.Namespace, port: int, process: int, requests: list[bytes]) -> None:
    """Go on sending, and print the memory of the service every tenth of the time."""
    seconds = 60.0 * arguments.minutes / 10
    series = [memory(process)]
    for part in range(10 if seconds else 0):
        asyncio.run(open_loop(port, arguments.connections, arguments.rate, seconds, requests))
        series.append(memory(process))
        print(f"  after {(part + 1) * seconds:5.0f} s: {series[-1]:7.2f} MB", flush=True)
    if seconds:
        grown = series[-1] - series[len(series) // 2]
        print(f"memory: {series[0]:.1f} MB at first, {grown:+.2f} MB in the second half")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rate", type=float, default=200.0, help="requests a second")
    parser.add_argument("--connections", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=20.0, help="of each part")
    parser.add_argument("--warm-up", type=float, default=3.0, help="seconds before")
    parser.add_argument("--minutes", type=float, default=0.0, help="of the memory soak")
    parser.add_argument("--log", action="store_true", help="with a log of decisions")
    run(parser.parse_args())


if __name__ == "__main__":
    main()

"""The benchmark of the service runs, and counts latencies from the time that was scheduled."""

import asyncio
import re
import subprocess
import sys

import pytest
import service_latency


@pytest.mark.process
def test_the_benchmark_prints_latencies_and_memory() -> None:
    words = ["--rate", "20", "--connections", "3", "--seconds", "1", "--warm-up", "0.2"]
    command = [sys.executable, service_latency.__file__, *words, "--minutes", "0.02", "--log"]
    text = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout
    assert "20 requests" in text
    assert len(re.findall(r"^  p[\d.]+ +[\d.]+ ms$", text, re.MULTILINE)) == 4
    assert re.findall("failures (.*)", text) == ["0", "0"]
    assert "MB in the second half" in text


def test_requests_that_wait_for_a_slow_one_are_late() -> None:
    async def measure() -> list[float]:
        async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            n = 0
            while await reader.readline():
                await asyncio.sleep(0.3 if n == 0 else 0.0)
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
                n += 1
            writer.close()

        server = await asyncio.start_server(respond, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        latencies, failures = await service_latency.open_loop(port, 1, 20, 0.25, [b"request\n"])
        assert failures == 0
        server.close()
        return list(latencies)

    latencies = asyncio.run(measure())
    assert len(latencies) == 5
    assert latencies[0] >= 300
    assert latencies[3] >= 150  # it was to be sent 150 ms after the first

"""Kernels that two threads need first at the same time."""

import subprocess
import sys

IMPORTS = """
import sys
from concurrent.futures import ThreadPoolExecutor
from pinesy._common.caching import load_kernels

sys.setswitchinterval(1e-5)
names = ["pinesy.engine.kernels", "pinesy.transforms.transform_kernels"]
with ThreadPoolExecutor() as threads:
    print([module.__name__ for module in threads.map(load_kernels, names)])
"""


def test_two_threads_import_numba_in_different_orders() -> None:
    done = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "transform_kernels" in done.stdout

"""What holds for all tests of the library."""

import os

# Before PyTorch and Numba are loaded: the tests run on all cores already, and threads of two
# processes that wait for each other take several times as long as one thread.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")

from hypothesis import settings  # noqa: E402

from pinesy._common import console  # noqa: E402

# A fresh or busy machine takes long to load compiled loops, and would say so in the middle of what
# tests read. The tests of notices set it for themselves.
console.NOTICE_AFTER = 600.0

# No test is about time: on a busy machine an example may take long.
settings.register_profile("pinesy", deadline=None)
settings.load_profile("pinesy")

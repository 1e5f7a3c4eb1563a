"""What holds for all tests of the library."""

from hypothesis import settings

from pinesy._common import console

# A fresh or busy machine takes long to load compiled loops, and would say so in the middle of what
# tests read. The tests of notices set it for themselves.
console.NOTICE_AFTER = 600.0

# No test is about time: on a busy machine an example may take long.
settings.register_profile("pinesy", deadline=None)
settings.load_profile("pinesy")

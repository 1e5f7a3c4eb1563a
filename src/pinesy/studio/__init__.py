"""The studio: a local web application to see rules, samples and answers, and to ask why.

``pinesy studio`` starts it (docs/studio.md). It needs the extra ``studio``; a `Session` alone does
not.
"""

from pinesy.studio.session import Session

__all__ = ["Session"]

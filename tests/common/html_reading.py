"""Reads snippets of HTML: whether all elements are closed, what they are, and what they say."""

from html.parser import HTMLParser

#: Elements that a snippet may have. None of them loads or runs anything.
KNOWN = (
    "div span b p pre code table thead tbody tr th td details summary progress "
    "svg g rect path text title desc style dl dt dd"
)
ATTRIBUTES = (
    "style role aria-label width height viewbox fill fill-opacity xmlns font-family font-size "
    "class title font-weight transform d stroke stroke-width stroke-dasharray rx x y value max"
)


class Snippet(HTMLParser):
    """The texts of a snippet, checked on the way."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.tags: list[str] = []
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert self._open == [], f"not closed: {self._open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in KNOWN.split(), tag
        assert {name for name, _ in attrs} <= {*ATTRIBUTES.split()}, attrs
        assert not any("url(" in (value or "") for _, value in attrs)
        self.tags.append(tag)
        self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open[-1:] != ["style"]:
            self.texts.append(data)

    @property
    def text(self) -> str:
        return "".join(self.texts)

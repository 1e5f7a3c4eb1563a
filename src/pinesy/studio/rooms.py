"""The rooms of the studio, in the order of their tabs.

A room is a module ``<name>_room.py`` here, with `ENDPOINTS`: functions from the session and what is
asked (a JSON object) to what JSON can hold, by name; and ``static/rooms/<name>.js``, an ES module
that exports ``open(place, studio)``: it fills the element `place`, once, when its tab is first
chosen. The page asks for an endpoint by ``studio.ask("<name>/<endpoint>", {...})``. A
`PinesyError` that a function raises is shown to the user with its message.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from pinesy.studio import data_room, learn_room, rules_room, sample_room, shell_room, why_room
from pinesy.studio.session import Session

Endpoint = Callable[[Session, Mapping[str, Any]], Any]


class Room(NamedTuple):
    """A tab of the page, and what it may ask for."""

    name: str
    title: str
    endpoints: Mapping[str, Endpoint]


ROOMS = (
    Room("rules", "Rules", rules_room.ENDPOINTS),
    Room("sample", "Sample", sample_room.ENDPOINTS),
    Room("why", "Why", why_room.ENDPOINTS),
    Room("data", "Data", data_room.ENDPOINTS),
    Room("learn", "Learn", learn_room.ENDPOINTS),
)


def endpoint(room: str, name: str) -> Endpoint | None:
    """Return what answers ``room/name``; None if nothing does."""
    if room == "shell":
        return shell_room.ENDPOINTS.get(name)
    return next((r.endpoints.get(name) for r in ROOMS if r.name == room), None)

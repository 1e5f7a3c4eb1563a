"""Rules in forms that other programs read."""

from pinesy.exchange.page import to_page

__all__ = ["to_page"]

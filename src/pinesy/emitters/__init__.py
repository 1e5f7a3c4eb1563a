"""Rules in languages that other machines run: a program's steps, and one emitter a language."""

from pinesy.emitters.sql import to_sql

__all__ = ["to_sql"]

"""Rules in languages that other machines run: a program's steps, and one emitter a language."""

from pinesy.emitters.c import CFiles, to_c
from pinesy.emitters.sql import to_sql

__all__ = ["CFiles", "to_c", "to_sql"]

"""Errors that a user can mend: one or two plain sentences, no traceback, and the exit code that belongs to them."""

from __future__ import annotations


class DiagError(Exception):
    """A failure that is the program's or the machine's (exit code 1)."""

    exit_code = 1


class InputError(DiagError, ValueError):
    """Wrong usage or input that cannot be read (exit code 2): says what, where, and what to do."""

    exit_code = 2


class GateError(DiagError):
    """A condition of `--fail-if` holds (exit code 3)."""

    exit_code = 3

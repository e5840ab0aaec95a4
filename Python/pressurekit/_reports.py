"""What calls come to."""

from __future__ import annotations

import ctypes
import enum
from typing import NamedTuple


class Level(enum.IntEnum):
    """How short memory is."""

    NORMAL = 0
    WARNING = 1
    CRITICAL = 2


class Report(NamedTuple):
    """What a reclaim did."""

    #: Bytes of the values that left memory.
    claimed_bytes: int
    #: By how much the process's resident memory fell; negative if it grew meanwhile.
    returned_bytes: int
    #: Values that left memory.
    evicted: int
    #: Values that stayed, since they were in use or had nowhere to go.
    skipped: int
    #: Caches with a value that could not be written. It is still in memory.
    failures: int
    #: From the call to the end.
    nanoseconds: int


class Statistics(NamedTuple):
    """How a manager stands."""

    #: The level that the monitor has reached.
    level: int
    #: 1 while it is in the background, else 0.
    in_background: int
    #: How bad it is, 0 to 1: warning begins at 1/3, critical at 2/3.
    score: float
    #: What is left of the limit that binds most, and that limit; both 0 before the first sample.
    available_bytes: int
    limit_bytes: int
    #: Bytes of values in memory.
    resident_bytes: int
    #: Of those, the ones that can go at once.
    clean_bytes: int
    #: Bytes of values that are compressed in memory, before compressing.
    compressed_bytes: int
    #: Bytes of values that are in the spill file only, before compressing.
    spilled_bytes: int
    #: What the spill file takes on the disk.
    spill_file_bytes: int
    #: Counts of all its caches.
    caches: int
    loads: int
    restores: int
    evictions: int
    refaults: int
    failures: int


class StateReport(NamedTuple):
    """What was saved or restored."""

    #: 1, or 0 if there was no state to restore.
    found: int
    #: Caches with values that were saved, or that have them again.
    caches: int
    #: Caches of the saved state that were not there, and whose values were not restored.
    missing: int
    #: Values and caches that were left out.
    failures: int
    #: The size of the state on the disk, after saving.
    bytes: int


class MemoryWarning(NamedTuple):
    """Memory is short."""

    #: `Level.WARNING` or `Level.CRITICAL`.
    level: Level
    #: The bytes that are wanted of all caches together; 0 when no number is known.
    bytes_wanted: int
    #: Why, for a log: the levels, the signal, its numbers.
    reason: str


def fields(structure: ctypes.Structure) -> list[float]:
    """The members of a structure behind its size, in their order, which is that of the tuples above."""
    return [getattr(structure, name) for name, *_ in structure._fields_[1:]]

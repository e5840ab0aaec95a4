"""PressureKit for Python: values that leave memory when it is short, and come back when they are read.

    with Manager() as manager:
        picture = manager.cache("picture", load=lambda: decode("picture.jpg"))
        with picture.pinned() as pixels:       # a memoryview of the bytes where they are
            draw(pixels)

Values are bytes: what has the buffer protocol goes in, such as `bytes`, `bytearray`, `memoryview`, `array.array` and NumPy's
arrays, and a read-only `memoryview`, or a copy as `bytes`, comes out.

Everything may be called on any thread. Calls that load, restore or free let go of Python's lock meanwhile. It needs CPython, by
whose reference counts a value is let go of with the last view of it.
"""

from ._caches import Cache, KeyedCache
from ._errors import (
    BadArgument,
    BadHandle,
    Duplicate,
    Error,
    InUse,
    LoadFailed,
    NoValue,
    Recursive,
    RestoreFailed,
    ShutDown,
    StateRefused,
    Unavailable,
)
from ._manager import Manager
from ._reports import Level, MemoryWarning, Report, StateReport, Statistics

__all__ = [
    "BadArgument",
    "BadHandle",
    "Cache",
    "Duplicate",
    "Error",
    "InUse",
    "KeyedCache",
    "Level",
    "LoadFailed",
    "Manager",
    "MemoryWarning",
    "NoValue",
    "Recursive",
    "Report",
    "RestoreFailed",
    "ShutDown",
    "StateRefused",
    "StateReport",
    "Statistics",
    "Unavailable",
]

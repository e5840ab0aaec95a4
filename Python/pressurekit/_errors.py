"""What goes wrong, one class for each status of pressurekit.h."""

from __future__ import annotations

import traceback


class Error(Exception):
    """What the library says went wrong."""

    def __init__(self, status: int, message: str, callback_result: int = 0) -> None:
        super().__init__(message)
        #: The number of pressurekit.h.
        self.status = status
        #: What a callback has returned, if that is the reason.
        self.callback_result = callback_result


class BadArgument(Error, ValueError):
    """An argument is too large, or contradicts another."""


class BadHandle(Error):
    """The cache was removed, or its manager closed."""


class InUse(Error):
    """A value is pinned: by a view, a slice or an array that is still there."""


class NoValue(Error, LookupError):
    """The cache has no `load`, and no value was set."""


class LoadFailed(Error):
    """`load` raised an exception. This has its text, and it is the `__cause__`."""


class RestoreFailed(Error):
    """A copy could not be read back, and there is no `load` to make the value again."""


class Recursive(Error, RuntimeError):
    """A `load` or `update` uses its own cache, or would wait for itself."""


class Duplicate(Error, ValueError):
    """A cache of that name is there already."""


class Unavailable(Error):
    """The system has no memory, thread, descriptor, disk or pressure signal to give, or a directory cannot be used."""


class ShutDown(Error):
    """The cache was removed while the call was under way."""


class StateRefused(Error):
    """The saved state is damaged, foreign, or of another version of the app. Nothing of it was used."""


_CLASSES = {
    -1: BadArgument,
    -2: BadHandle,
    -3: InUse,
    -4: NoValue,
    -5: LoadFailed,
    -6: RestoreFailed,
    -7: Recursive,
    -8: Duplicate,
    -9: Unavailable,
    -10: ShutDown,
    -11: StateRefused,
}


def error(status: int, message: str, callback_result: int) -> Error:
    """The exception for a status; new ones of a newer library are `Error` itself."""
    return _CLASSES.get(status, Error)(status, message, callback_result)


def words(exception: BaseException) -> str:
    """An exception as the last line of its traceback has it, such as `KeyError: 'tile'`."""
    return "".join(traceback.format_exception_only(type(exception), exception)).strip()

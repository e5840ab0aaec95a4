"""Functions of the app's as the library calls them, and their exceptions on the way to whom they concern."""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import threading
from collections.abc import Callable, Iterator
from typing import Any

from ._buffers import Lent
from ._errors import LoadFailed, words
from ._native import Library, LoadFunction, LoadKeyFunction, ReleaseFunction, UpdateFunction

_numbers = itertools.count(1)


class Failures:
    """The exceptions that callbacks of one cache have raised, by the numbers that they returned.

    The library tells each reader that waited for a load the number that it returned, on whatever thread it ran. They are
    kept for as long as somebody waits, and a few of them: an exception keeps all that its frames refer to.
    """

    _MOST = 64

    def __init__(self, library: Library, name: str) -> None:
        self._library, self._name = library, name
        self._lock = threading.Lock()
        self._waiting = 0
        self._raised: dict[int, tuple[BaseException, int]] = {}

    def note(self, exception: BaseException) -> int:
        """Keeps an exception, and says what it is. Returns the number for the library."""
        self._library.set_error(words(exception))
        number = next(_numbers) % 0x7FFF_FFFF + 1
        with self._lock:
            if self._waiting > 0:
                self._raised[number] = (exception, threading.get_ident())
                if len(self._raised) > self._MOST:
                    del self._raised[next(iter(self._raised))]
        return number

    @contextlib.contextmanager
    def told(self) -> Iterator[None]:
        """Around a call that may fail because a callback has: its exception becomes the cause."""
        with self._lock:
            self._waiting += 1
        try:
            yield
        except LoadFailed as failure:
            cause, thread = self._raised.get(failure.callback_result, (None, 0))
            if cause is None:
                raise
            if not isinstance(cause, Exception) and thread == threading.get_ident():
                # Not a failure of the load: somebody wants the program to end.
                raise cause from None
            told = LoadFailed(
                failure.status, f'The load callback of "{self._name}" failed: {words(cause)}', failure.callback_result
            )
            raise told from cause
        finally:
            with self._lock:
                self._waiting -= 1
                if self._waiting == 0:
                    self._raised.clear()


class Loader:
    """The two functions with which the library gets values: one makes them, the other takes them back."""

    def __init__(self, failures: Failures) -> None:
        self._failures = failures
        # By thread: a value is taken back on the one that made it, the last one first. They may not be Python's threads,
        # so that variables of a thread would not last from one call to the next.
        self._lent: dict[int, list[Lent]] = {}
        self.release = ReleaseFunction(self._take_back)

    def one(self, load: Callable[[], Any]) -> Any:
        """The function that makes the value of a cache."""
        return LoadFunction(lambda _, address, count: self._lend(load, address, count))

    def keyed(self, load: Callable[[bytes], Any]) -> Any:
        """The function that makes the value for a key."""

        def load_key(_: Any, key: int, key_count: int, address: Any, count: Any) -> int:
            return self._lend(lambda: load(ctypes.string_at(key, key_count)), address, count)

        return LoadKeyFunction(load_key)

    def _lend(self, load: Callable[[], Any], address: Any, count: Any) -> int:
        # An exception that gets out of here would be printed, and taken for success.
        try:
            lent = Lent(load())
            address[0], count[0] = lent.address, lent.count
            if lent.count > 0:
                self._lent.setdefault(threading.get_ident(), []).append(lent)
            else:
                lent.give_back()
            return 0
        except BaseException as exception:
            return self._failures.note(exception)

    def _take_back(self, _: Any, __: Any, ___: Any) -> None:
        thread = threading.get_ident()
        lent = self._lent[thread]
        lent.pop().give_back()
        if not lent:
            del self._lent[thread]


class Change:
    """The function with which the library has a value changed.

    It changes a copy, which takes the place of the bytes when it has returned: a slice that it leaves somewhere cannot
    write to where the value was, and one that fails has changed nothing.
    """

    def __init__(self, change: Callable[[memoryview], object]) -> None:
        self._change = change
        self.raised: BaseException | None = None
        self.function = UpdateFunction(self._call)

    def _call(self, _: Any, address: int, count: int) -> int:
        try:
            value = (ctypes.c_ubyte * count).from_address(address)
            copy = bytearray(value)
            self._change(memoryview(copy))
            ctypes.memmove(address, (ctypes.c_ubyte * count).from_buffer(copy), count)
            return 0
        except BaseException as exception:
            self.raised = exception
            return 1

"""Caches: one value, or many by key."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from ctypes import byref, c_int32, c_size_t, c_uint64, c_void_p
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ._buffers import Lent, Shown
from ._callbacks import Change, Failures
from ._errors import LoadFailed

if TYPE_CHECKING:
    from ._manager import Manager

RESIDENCY = ("unloaded", "resident", "compressed", "spilled", "busy")

Key = TypeVar("Key", str, bytes, int)


class _Values:
    """What both kinds of cache do. A value is named by the arguments that say where it is: none, or a key."""

    _suffix = ""
    _residency = "get_residency"

    def __init__(self, manager: Manager, handle: int, name: str, failures: Failures) -> None:
        # Keeps the manager, and with it the functions that make values.
        self._manager, self._handle, self._failures = manager, handle, failures
        self._library = manager._library
        #: The name it was registered with.
        self.name = name

    def _call(self, function: str, *arguments: Any) -> None:
        self._library.call(function, self._handle, *arguments)

    def _show(self, where: tuple[Any, ...]) -> Shown:
        pin, address, count = c_uint64(), c_void_p(), c_size_t()
        with self._failures.told():
            self._call("access" + self._suffix, *where, byref(pin), byref(address), byref(count))
        library, number = self._library, pin.value

        def unpin() -> None:
            # It may be called at any time, in a child of the process too.
            if library.is_usable:
                library.call("unpin", number)

        return Shown(address.value or 0, count.value, unpin)

    @contextlib.contextmanager
    def _pin(self, where: tuple[Any, ...]) -> Iterator[memoryview]:
        shown = self._show(where)
        try:
            yield shown.view
        except BaseException:
            # What the block was about comes first, and its variables are still there.
            with contextlib.suppress(BufferError):
                shown.end()
            raise
        shown.end()

    def _read(self, where: tuple[Any, ...]) -> bytes:
        return self._show(where).view.tobytes()

    def _set(self, where: tuple[Any, ...], value: Any) -> None:
        with Lent(value) as lent:
            self._call("set" + self._suffix, *where, lent.address, lent.count)

    def _update(self, where: tuple[Any, ...], change: Callable[[memoryview], object]) -> None:
        changing = Change(change)
        with self._failures.told():
            try:
                self._call("update" + self._suffix, *where, changing.function, None)
            except LoadFailed:
                if changing.raised is None:
                    raise
        if changing.raised is not None:
            raise changing.raised

    def _where(self, where: tuple[Any, ...]) -> str:
        residency = c_int32()
        self._call(self._residency, *where, byref(residency))
        return RESIDENCY[residency.value]

    def show(self, is_visible: bool = True) -> None:
        """What is hidden leaves memory first."""
        self._call("set_visible", int(is_visible))

    def remove(self) -> None:
        """Takes the cache, and what it holds, out of its manager. Its name is free again.

        Raises `InUse` while a value of it is pinned.
        """
        self._call("remove_cache")
        self._manager._forget(self._handle)


class Cache(_Values):
    """One value. Made by `Manager.cache`."""

    def pinned(self) -> contextlib.AbstractContextManager[memoryview]:
        """The bytes where they are, read-only, until the end of the block. Loads or restores them first.

        At the end the view is released, and reading it raises `ValueError`. If a slice of it, or an array that shares its
        memory, is still there, the block ends with a `BufferError`, unless it ends by another exception; the value stays
        pinned until that is gone. Use `view` for what is to outlive a block.
        """
        return self._pin(())

    def view(self) -> memoryview:
        """The bytes where they are, read-only, pinned for as long as the view, a slice, or an array made of it is there."""
        return self._show(()).view

    def read(self) -> bytes:
        """A copy of the bytes. Loads or restores them first."""
        return self._read(())

    def set(self, value: Any) -> None:
        """Puts a copy of the bytes of `value`, which has the buffer protocol, in place of the ones there are.

        It is never dropped. One that is not contiguous is copied in C's order.
        """
        self._set((), value)

    def update(self, change: Callable[[memoryview], object]) -> None:
        """Passes a copy of the bytes to `change`, as many as there are; what it makes of them takes their place.

        If `change` raises, nothing has changed, and this raises the same exception.
        """
        self._update((), change)

    def invalidate(self) -> None:
        """Discards the value. The next access loads it; without `load` it is lost."""
        self._call("invalidate")

    @property
    def residency(self) -> str:
        """Where the value is: one of `"unloaded"`, `"resident"`, `"compressed"`, `"spilled"` and `"busy"`."""
        return self._where(())


class KeyedCache(_Values, Generic[Key]):
    """Many values by key, each of which leaves memory, and comes back, as that of a `Cache`. Made by `Manager.keyed_cache`.

    A value that was dropped is forgotten with its key. `load` must not use the cache that it loads for, for another key
    neither: `Recursive`.
    """

    _suffix = "_key"
    _residency = "get_key_residency"

    def __init__(
        self, manager: Manager, handle: int, name: str, failures: Failures, encode: Callable[[Key], bytes]
    ) -> None:
        super().__init__(manager, handle, name, failures)
        self._encode: Callable[[Key], bytes] = encode

    def _at(self, key: Key) -> tuple[bytes, int]:
        encoded = self._encode(key)
        return encoded, len(encoded)

    def pinned(self, key: Key) -> contextlib.AbstractContextManager[memoryview]:
        """The bytes for `key` where they are: `Cache.pinned`."""
        return self._pin(self._at(key))

    def view(self, key: Key) -> memoryview:
        """The bytes for `key` for as long as the view is there: `Cache.view`."""
        return self._show(self._at(key)).view

    def read(self, key: Key) -> bytes:
        """A copy of the bytes for `key`. Loads or restores them first."""
        return self._read(self._at(key))

    def set(self, key: Key, value: Any) -> None:
        """Puts a copy of the bytes of `value` in place of the ones for `key`, if there are any: `Cache.set`."""
        self._set(self._at(key), value)

    def update(self, key: Key, change: Callable[[memoryview], object]) -> None:
        """Passes a copy of the bytes for `key` to `change`: `Cache.update`. Again if somebody replaces them meanwhile."""
        self._update(self._at(key), change)

    def invalidate(self, key: Key) -> None:
        """Discards the value for `key`, if there is one. The next access loads it; without `load` it is lost."""
        self._call("invalidate_key", *self._at(key))

    def residency(self, key: Key) -> str:
        """Where the value for `key` is; `"unloaded"` for a key without one."""
        return self._where(self._at(key))

    @property
    def count(self) -> int:
        """How many keys have a value, in memory or in the spill file."""
        count = c_uint64()
        self._call("get_key_count", byref(count))
        return count.value

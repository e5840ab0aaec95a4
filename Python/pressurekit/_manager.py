"""The manager: what watches memory and owns caches."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from ctypes import byref, c_uint64, c_void_p, cast
from typing import Any, overload

from ._caches import Cache, Key, KeyedCache
from ._callbacks import Failures, Loader
from ._errors import Error
from ._native import (
    ALLOW_MEMORY_SPILL,
    NO_WATCH,
    CacheOptions,
    KeyedOptions,
    Library,
    NativeReport,
    NativeStateReport,
    NativeStatistics,
    Options,
    WarningFunction,
)
from ._reports import Level, MemoryWarning, Report, StateReport, Statistics, fields

#: How keys of a type become bytes, and bytes keys.
_KEYS: dict[type, tuple[Callable[[Any], bytes], Callable[[bytes], Any]]] = {
    str: (lambda key: key.encode("utf-8", "surrogatepass"), lambda key: key.decode("utf-8", "surrogatepass")),
    bytes: (bytes, bytes),
    int: (lambda key: b"%d" % key, int),
}


class Manager:
    """Watches memory from when it is made until it is closed, or there is no reference to it or its caches any more."""

    def __init__(
        self,
        library: str | None = None,
        *,
        spill_directory: str | os.PathLike[str] | None = None,
        spill_limit: int = 0,
        control_socket: str | os.PathLike[str] | None = None,
        workers: int = 0,
        watch: bool = True,
        allow_memory_spill: bool = False,
    ) -> None:
        """Creates a manager. Blocks briefly on the file system.

        library: the path of libPressureKitC.so; without it, `$PRESSUREKIT_LIBRARY`, what the wheel brings, or the system's.
        spill_directory: the directory of the spill file; without it, `$TMPDIR` if it is on a disk, else /var/tmp.
        spill_limit: the size the spill file never grows past; 0 for none.
        control_socket: the path of a control socket for pressuresim.
        workers: threads that compress and write during a reclaim; 0 for one a core.
        watch: whether to watch memory; without it, memory is freed only when `warn` and `enter_background` ask for it.
        allow_memory_spill: whether to spill to a directory that is in memory itself, which frees what compression saves.
        """
        self._library = Library(library)
        options = Options(
            spill_limit=spill_limit,
            workers=workers,
            flags=(0 if watch else NO_WATCH) | (ALLOW_MEMORY_SPILL if allow_memory_spill else 0),
        )
        if spill_directory is not None:
            options.spill_directory = os.fsencode(spill_directory)
        if control_socket is not None:
            options.control_socket = os.fsencode(control_socket)
        handle = c_uint64()
        self._library.call("create", byref(options), byref(handle))
        self._handle = handle.value
        # What the library may call, which must be there for as long as it may: by cache, and for warnings.
        self._functions: dict[int, Any] = {}
        self._warned: list[Any] = []
        self._end = weakref.finalize(
            self, _destroy, self._library, self._handle, (self._functions, self._warned)
        )

    def __enter__(self) -> Manager:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the manager with all its caches. Blocks until a reclaim that is running, and their callbacks, have ended.

        Does nothing a second time, nor in a child of the process. Raises `InUse` while a value is pinned, and ends nothing then.
        """
        if self._end.alive and self._library.is_usable:
            self._library.call("destroy", self._handle)
            self._end.detach()
            self._functions.clear()
            self._warned.clear()

    @property
    def version(self) -> str:
        """The library's own version."""
        return self._library.version

    # Caches

    def cache(self, name: str, load: Callable[[], Any] | None = None) -> Cache:
        """A cache whose value `load` makes, when it is read and whenever it was dropped; or one whose value is set.

        `load` returns something with the buffer protocol. It is called without a lock, on the thread of the reader, or one
        of the library's own. What it raises, every reader gets that waits, as the `__cause__` of a `LoadFailed`.
        """
        failures = Failures(self._library, name)
        options, functions = CacheOptions(), None
        if load is not None:
            loader = Loader(failures)
            options.load, options.release = functions = (loader.one(load), loader.release)
        return Cache(self, self._add("add_cache", name, options, functions), name, failures)

    @overload
    def keyed_cache(
        self,
        name: str,
        load: Callable[[str], Any] | None = None,
        *,
        limit_bytes: int = 0,
        limit_values: int = 0,
    ) -> KeyedCache[str]: ...

    @overload
    def keyed_cache(
        self,
        name: str,
        load: Callable[[Key], Any] | None = None,
        *,
        key: type[Key],
        limit_bytes: int = 0,
        limit_values: int = 0,
    ) -> KeyedCache[Key]: ...

    def keyed_cache(
        self,
        name: str,
        load: Callable[[Any], Any] | None = None,
        *,
        key: type = str,
        limit_bytes: int = 0,
        limit_values: int = 0,
    ) -> KeyedCache[Any]:
        """A cache of many values by key, each of which `load` makes from its key; or whose values are set.

        key: the type of the keys, `str`, `bytes` or `int`; at most 4096 bytes each.
        limit_bytes, limit_values: the bytes, and the number, of values in memory that it keeps to; 0 for no limit.
        """
        if key not in _KEYS:
            raise TypeError(f"keys may be str, bytes or int, and not {key.__name__}")
        encode, decode = _KEYS[key]

        def encoded(value: Any) -> bytes:
            if not isinstance(value, key):
                raise TypeError(f'keys of "{name}" are {key.__name__}, and not {type(value).__name__}')
            return encode(value)

        failures = Failures(self._library, name)
        options, functions = KeyedOptions(limit_bytes=limit_bytes, limit_values=limit_values), None
        if load is not None:
            loader, made = Loader(failures), load
            options.load, options.release = functions = (
                loader.keyed(lambda encoded_key: made(decode(encoded_key))),
                loader.release,
            )
        return KeyedCache(self, self._add("add_keyed_cache", name, options, functions), name, failures, encoded)

    def _add(self, function: str, name: str, options: Any, functions: Any) -> int:
        if "\0" in name:
            raise ValueError("the name has a NUL in it")
        handle = c_uint64()
        self._library.call(function, self._handle, name.encode(), byref(options), byref(handle))
        self._functions[handle.value] = functions
        return handle.value

    def _forget(self, cache: int) -> None:
        self._functions.pop(cache, None)

    # Memory

    def warn(self, level: int = Level.CRITICAL, size: int = 0) -> Report:
        """Frees memory as if the system had warned, and says what that came to.

        size: how much; 0 leaves it to the level, a part of what is not in use, or all of it.
        """
        report = NativeReport()
        self._library.call("warn", self._handle, level, size, byref(report))
        return Report(*fields(report))  # type: ignore[arg-type]

    def on_warning(self, warned: Callable[[MemoryWarning], object] | None) -> None:
        """Has `warned` called when memory is short, before values leave, in place of the one before; `None` for nobody.

        The moment to let go of what caches do not hold. It is called on a thread of the library's own. A reclaim waits for
        it, but two seconds at most. What it raises goes to `sys.unraisablehook`.
        """
        function = None
        if warned is not None:
            tell = warned

            def call(_: Any, passed: Any) -> None:
                # An exception that gets out of here goes to the hook, and nowhere else.
                warning = passed.contents
                reason: bytes = warning.reason
                tell(MemoryWarning(Level(warning.level), warning.bytes_wanted, reason.decode()))

            function = WarningFunction(call)
            # The one before may be what calls this.
            self._warned.append(function)
        pointer = None if function is None else cast(function, c_void_p)
        self._library.call("set_warning_callback", self._handle, pointer, None)

    def enter_background(self) -> Report:
        """The app is idle: everything that is not in use leaves memory."""
        report = NativeReport()
        self._library.call("enter_background", self._handle, byref(report))
        return Report(*fields(report))  # type: ignore[arg-type]

    def enter_foreground(self) -> None:
        """The app is used again: what was visible comes back."""
        self._library.call("enter_foreground", self._handle)

    @property
    def statistics(self) -> Statistics:
        """How the manager stands."""
        statistics = NativeStatistics()
        self._library.call("get_statistics", self._handle, byref(statistics))
        return Statistics(*fields(statistics))  # type: ignore[arg-type]

    # Saved state

    def save_state(self, directory: str | os.PathLike[str], version: str = "") -> StateReport:
        """Saves the values of all caches for the next process: state, not data.

        directory: this user's alone, made if it does not exist, held until the manager is closed.
        version: the app's, held against that of the process that restores.
        """
        return self._state("save_state", directory, version)

    def restore_state(self, directory: str | os.PathLike[str], version: str = "") -> StateReport:
        """Gives the caches that there are what was saved under their names. Register the caches first.

        Raises `StateRefused` if it is damaged, or was saved by another version; nothing has changed then.
        """
        return self._state("restore_state", directory, version)

    def _state(self, function: str, directory: str | os.PathLike[str], version: str) -> StateReport:
        report = NativeStateReport()
        self._library.call(function, self._handle, os.fsencode(directory), version.encode(), byref(report))
        return StateReport(*fields(report))  # type: ignore[arg-type]


#: What the library may still call, since it could not be told to end.
_kept: list[Any] = []


def _destroy(library: Library, handle: int, functions: Any) -> None:
    # A child of the process has no manager to end.
    if not library.is_usable:
        return
    try:
        library.call("destroy", handle)
    except Error:
        _kept.append(functions)

"""The shared library: the structures and functions of pressurekit.h."""

from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from typing import Any

from ._errors import Unavailable, error

ABI_VERSION = 2
NO_WATCH, ALLOW_MEMORY_SPILL = 1, 2

LoadFunction = ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(c_void_p), POINTER(c_size_t))
LoadKeyFunction = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_size_t, POINTER(c_void_p), POINTER(c_size_t))
ReleaseFunction = ctypes.CFUNCTYPE(None, c_void_p, c_void_p, c_size_t)
UpdateFunction = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_size_t)


class Sized(ctypes.Structure):
    """A structure that begins with its size."""

    def __init__(self, **values: Any) -> None:
        super().__init__(size=ctypes.sizeof(self), **values)


class Options(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("spill_directory", c_char_p),
        ("spill_limit", c_uint64),
        ("control_socket", c_char_p),
        ("flags", c_uint32),
        ("workers", c_uint32),
        ("reserved", c_uint64 * 4),
    ]


class CacheOptions(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("load", LoadFunction),
        ("release", ReleaseFunction),
        ("context", c_void_p),
        ("reserved", c_uint64 * 4),
    ]


class KeyedOptions(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("load", LoadKeyFunction),
        ("release", ReleaseFunction),
        ("context", c_void_p),
        ("limit_bytes", c_uint64),
        ("limit_values", c_uint64),
        ("reserved", c_uint64 * 4),
    ]


class NativeReport(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("claimed_bytes", c_uint64),
        ("returned_bytes", c_int64),
        ("evicted", c_uint64),
        ("skipped", c_uint64),
        ("failures", c_uint64),
        ("nanoseconds", c_uint64),
    ]


class NativeStatistics(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("level", c_int32),
        ("in_background", c_int32),
        ("score", c_double),
        ("available_bytes", c_uint64),
        ("limit_bytes", c_uint64),
        ("resident_bytes", c_uint64),
        ("clean_bytes", c_uint64),
        ("compressed_bytes", c_uint64),
        ("spilled_bytes", c_uint64),
        ("spill_file_bytes", c_uint64),
        ("caches", c_uint64),
        ("loads", c_uint64),
        ("restores", c_uint64),
        ("evictions", c_uint64),
        ("refaults", c_uint64),
        ("failures", c_uint64),
    ]


class NativeStateReport(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("found", c_uint64),
        ("caches", c_uint64),
        ("missing", c_uint64),
        ("failures", c_uint64),
        ("bytes", c_uint64),
    ]


class NativeWarning(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("level", c_int32),
        ("reserved", c_int32),
        ("bytes_wanted", c_uint64),
        ("reason", c_char_p),
    ]


WarningFunction = ctypes.CFUNCTYPE(None, c_void_p, POINTER(NativeWarning))

_KEY = (c_char_p, c_size_t)

_SIGNATURES: dict[str, tuple[Any, ...]] = {
    "create": (POINTER(Options), POINTER(c_uint64)),
    "destroy": (c_uint64,),
    "add_cache": (c_uint64, c_char_p, POINTER(CacheOptions), POINTER(c_uint64)),
    "remove_cache": (c_uint64,),
    "access": (c_uint64, POINTER(c_uint64), POINTER(c_void_p), POINTER(c_size_t)),
    "unpin": (c_uint64,),
    "set": (c_uint64, c_void_p, c_size_t),
    "update": (c_uint64, UpdateFunction, c_void_p),
    "invalidate": (c_uint64,),
    "set_visible": (c_uint64, c_int32),
    "get_residency": (c_uint64, POINTER(c_int32)),
    "add_keyed_cache": (c_uint64, c_char_p, POINTER(KeyedOptions), POINTER(c_uint64)),
    "access_key": (c_uint64, *_KEY, POINTER(c_uint64), POINTER(c_void_p), POINTER(c_size_t)),
    "set_key": (c_uint64, *_KEY, c_void_p, c_size_t),
    "update_key": (c_uint64, *_KEY, UpdateFunction, c_void_p),
    "invalidate_key": (c_uint64, *_KEY),
    "get_key_residency": (c_uint64, *_KEY, POINTER(c_int32)),
    "get_key_count": (c_uint64, POINTER(c_uint64)),
    "warn": (c_uint64, c_int32, c_uint64, POINTER(NativeReport)),
    "enter_background": (c_uint64, POINTER(NativeReport)),
    "enter_foreground": (c_uint64,),
    "set_warning_callback": (c_uint64, c_void_p, c_void_p),
    "save_state": (c_uint64, c_char_p, c_char_p, POINTER(NativeStateReport)),
    "restore_state": (c_uint64, c_char_p, c_char_p, POINTER(NativeStateReport)),
    "get_statistics": (c_uint64, POINTER(NativeStatistics)),
}


def _default_path() -> str:
    """`$PRESSUREKIT_LIBRARY`, or what the wheel brings, or what the system's loader finds."""
    name = "libPressureKitC.so.1"
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
    return os.environ.get("PRESSUREKIT_LIBRARY") or (beside if os.path.exists(beside) else name)


class Library:
    """The functions, each of which raises instead of returning a status."""

    def __init__(self, path: str | None) -> None:
        path = path or _default_path()
        # CDLL lets go of Python's lock during a call, so callbacks may come on any thread.
        native = ctypes.CDLL(path)
        native.pressurekit_abi_version.restype = c_uint32
        if native.pressurekit_abi_version() < ABI_VERSION:
            raise ImportError(f"{path} is older than this package")
        native.pressurekit_last_error.restype = c_char_p
        native.pressurekit_last_callback_result.restype = c_int
        native.pressurekit_version.restype = c_char_p
        native.pressurekit_set_error.argtypes = (c_char_p,)
        native.pressurekit_set_error.restype = None
        self._native = native
        self._functions: dict[str, Any] = {}
        for name, arguments in _SIGNATURES.items():
            function = getattr(native, f"pressurekit_{name}")
            function.argtypes, function.restype = arguments, c_int32
            self._functions[name] = function
        self._process = os.getpid()

    @property
    def version(self) -> str:
        version: bytes = self._native.pressurekit_version()
        return version.decode()

    @property
    def is_usable(self) -> bool:
        """Whether this is the process that loaded it: in the child of a fork no call is of use."""
        return os.getpid() == self._process

    def call(self, name: str, *arguments: Any) -> None:
        """Calls a function.

        Raises `Error` when it fails.
        """
        if not self.is_usable:
            # Its locks may be held for ever by threads that are only in the parent.
            raise Unavailable(-9, "this process was forked from the one that made the manager: make another one here")
        status = self._functions[name](*arguments)
        if status != 0:
            # Before anything else is called on this thread.
            message: bytes = self._native.pressurekit_last_error()
            raise error(status, message.decode(), self._native.pressurekit_last_callback_result())

    def set_error(self, text: str) -> None:
        """Says why the callback that runs on this thread fails."""
        self._native.pressurekit_set_error(text.replace("\0", "\\0").encode("utf-8", "replace"))

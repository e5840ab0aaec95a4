"""PressureKit for Python, by ctypes: values that leave memory when it is short, and come back when they are read.

    with Manager("libPressureKitC.so") as manager:
        picture = manager.cache("picture", load=lambda: decode("picture.jpg"))
        with picture.pinned() as pixels:       # a memoryview of the bytes where they are
            draw(pixels)
"""

import contextlib
import ctypes
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p

ABI_VERSION = 1
WARNING, CRITICAL = 1, 2
RESIDENCY = ("unloaded", "resident", "compressed", "spilled", "busy")
NO_WATCH, ALLOW_MEMORY_SPILL = 1, 2

LoadFunction = ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(c_void_p), POINTER(c_size_t))
ReleaseFunction = ctypes.CFUNCTYPE(None, c_void_p, c_void_p, c_size_t)
UpdateFunction = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_size_t)


class Sized(ctypes.Structure):
    """A structure that begins with its size."""

    def __init__(self, **values):
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


class Report(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("claimed_bytes", c_uint64),
        ("returned_bytes", c_int64),
        ("evicted", c_uint64),
        ("skipped", c_uint64),
        ("failures", c_uint64),
        ("nanoseconds", c_uint64),
    ]


class Statistics(Sized):
    _fields_ = [("size", c_size_t), ("level", c_int32), ("in_background", c_int32), ("score", c_double)] + [
        (name, c_uint64)
        for name in (
            "available_bytes limit_bytes resident_bytes clean_bytes compressed_bytes spilled_bytes spill_file_bytes "
            "caches loads restores evictions refaults failures"
        ).split()
    ]


class Error(Exception):
    """What the library says went wrong; `status` is the number."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


class Library:
    """The functions of pressurekit.h, each of which raises instead of returning a status."""

    SIGNATURES = {
        "create": (POINTER(Options), POINTER(c_uint64)),
        "destroy": (c_uint64,),
        "add_cache": (c_uint64, c_char_p, POINTER(CacheOptions), POINTER(c_uint64)),
        "remove_cache": (c_uint64,),
        "access": (c_uint64, POINTER(c_uint64), POINTER(c_void_p), POINTER(c_size_t)),
        "unpin": (c_uint64,),
        "set": (c_uint64, c_char_p, c_size_t),
        "update": (c_uint64, UpdateFunction, c_void_p),
        "invalidate": (c_uint64,),
        "set_visible": (c_uint64, c_int32),
        "get_residency": (c_uint64, POINTER(c_int32)),
        "warn": (c_uint64, c_int32, c_uint64, POINTER(Report)),
        "enter_background": (c_uint64, POINTER(Report)),
        "enter_foreground": (c_uint64,),
        "get_statistics": (c_uint64, POINTER(Statistics)),
    }

    def __init__(self, path):
        # CDLL lets go of Python's lock during a call, so callbacks may come on any thread.
        self._library = ctypes.CDLL(path)
        self._library.pressurekit_abi_version.restype = c_uint32
        self._library.pressurekit_last_error.restype = c_char_p
        self._library.pressurekit_version.restype = c_char_p
        if self._library.pressurekit_abi_version() < ABI_VERSION:
            raise ImportError(f"{path} is older than this module")
        for name, arguments in self.SIGNATURES.items():
            setattr(self, name, self._function(name, arguments))

    @property
    def version(self):
        return self._library.pressurekit_version().decode()

    def _function(self, name, arguments):
        function = getattr(self._library, f"pressurekit_{name}")
        function.argtypes, function.restype = arguments, c_int32

        def call(*values):
            status = function(*values)
            if status != 0:
                raise Error(status, self._library.pressurekit_last_error().decode())

        return call


class Cache:
    """One value. Made by `Manager.cache`."""

    def __init__(self, library, handle, callbacks):
        self._library, self._handle = library, handle
        # ctypes frees the functions with these.
        self._callbacks = callbacks

    @contextlib.contextmanager
    def pinned(self):
        """The bytes where they are, read-only, until the end of the block."""
        pin, address, count = c_uint64(), c_void_p(), c_size_t()
        self._library.access(self._handle, byref(pin), byref(address), byref(count))
        try:
            view = memoryview((ctypes.c_ubyte * count.value).from_address(address.value)).toreadonly()
            with view:
                yield view
        finally:
            self._library.unpin(pin)

    def read(self):
        """A copy of the bytes."""
        with self.pinned() as view:
            return bytes(view)

    def set(self, value):
        """Puts `value` in place of the one there is. Nothing but the library keeps it, and it is never dropped."""
        self._library.set(self._handle, value, len(value))

    @property
    def residency(self):
        residency = c_int32()
        self._library.get_residency(self._handle, byref(residency))
        return RESIDENCY[residency.value]

    def show(self, is_visible=True):
        """What is hidden leaves memory first."""
        self._library.set_visible(self._handle, int(is_visible))

    def invalidate(self):
        self._library.invalidate(self._handle)

    def remove(self):
        self._library.remove_cache(self._handle)


class Manager:
    """Watches memory from when it is made until it is closed."""

    def __init__(self, path, spill_directory=None, flags=0):
        self._library = Library(path)
        options = Options(flags=flags)
        if spill_directory is not None:
            options.spill_directory = spill_directory.encode()
        handle = c_uint64()
        self._library.create(byref(options), byref(handle))
        self._handle = handle

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._library.destroy(self._handle)

    def cache(self, name, load=None):
        """A cache whose value `load` makes, or one whose value is set."""
        handle = c_uint64()
        if load is None:
            self._library.add_cache(self._handle, name.encode(), None, byref(handle))
            return Cache(self._library, handle, None)
        made = {}

        def load_value(_, address, count):
            try:
                value = load()
                # Kept until it was copied; by address, since several may be made at a time.
                buffer = (ctypes.c_char * len(value)).from_buffer_copy(value)
                made[ctypes.addressof(buffer)] = buffer
                address[0], count[0] = ctypes.addressof(buffer), len(value)
                return 0
            except Exception:
                return 1

        def release_value(_, address, __):
            made.pop(address, None)

        callbacks = (LoadFunction(load_value), ReleaseFunction(release_value))
        options = CacheOptions(load=callbacks[0], release=callbacks[1])
        self._library.add_cache(self._handle, name.encode(), byref(options), byref(handle))
        return Cache(self._library, handle, callbacks)

    def warn(self, level=CRITICAL, size=0):
        """Frees memory as if the system had warned, and says what that came to."""
        report = Report()
        self._library.warn(self._handle, level, size, byref(report))
        return report

    def enter_background(self):
        report = Report()
        self._library.enter_background(self._handle, byref(report))
        return report

    def enter_foreground(self):
        self._library.enter_foreground(self._handle)

    @property
    def statistics(self):
        statistics = Statistics()
        self._library.get_statistics(self._handle, byref(statistics))
        return statistics

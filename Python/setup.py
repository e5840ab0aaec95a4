"""The wheel has a library for this machine's architecture, and is for any Python 3. scripts/wheel.sh puts the library there."""

import pathlib
import sys

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.dist import Distribution

if "bdist_wheel" in sys.argv and not pathlib.Path("pressurekit/libPressureKitC.so.1").exists():
    sys.exit("there is no library in pressurekit/: build the wheel with `make wheel`")


class Native(Distribution):
    def has_ext_modules(self):
        return True


class AnyPython(bdist_wheel):
    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


setup(distclass=Native, cmdclass={"bdist_wheel": AnyPython})

"""What the tests share."""

from __future__ import annotations

import unittest

import pressurekit


class ManagerTest(unittest.TestCase):
    """Each test has a manager that watches nothing."""

    manager: pressurekit.Manager

    def setUp(self) -> None:
        self.manager = pressurekit.Manager(spill_directory="/var/tmp", workers=1, watch=False)
        self.addCleanup(self.manager.close)

"""Installations are tried again, and then the run fails with advice."""

import pathlib
import tempfile
import unittest
from unittest import mock

import gate
import needs
import places
import processes
import schedule
from runs import Run


class InstallTests(unittest.TestCase):
    def install(self, script: str) -> tuple[schedule.Job, str]:
        """Runs a script as an installation, and returns its job and what it left in a file."""
        with tempfile.TemporaryDirectory() as folder:
            self.addCleanup(processes.ending.clear)
            with (
                mock.patch.object(places, "LOGS", pathlib.Path(folder)),
                mock.patch.object(places, "ROOT", pathlib.Path(folder)),
                mock.patch.object(schedule, "say"),
                mock.patch.object(gate, "say"),
                mock.patch.object(gate, "PAUSES", (0, 0, 0)),
            ):
                job = gate.installing("x", [["sh", "-c", script]], [needs.BY_NAME["browser"]], after=set())
                schedule.Schedule([job], {}, 0).run()
            return job, pathlib.Path(folder, "tries").read_text()

    def test_three_retries(self):
        job, tries = self.install("echo try >>tries; false")
        self.assertEqual(tries.count("try"), 4)
        self.assertIn("--without NAME, where NAME is one of: browser", job.error)

    def test_a_retry_that_succeeds(self):
        job, tries = self.install("echo try >>tries; [ $(wc -l <tries) -eq 3 ]")
        self.assertEqual((tries.count("try"), job.error), (3, ""))

    def test_what_is_left_out_is_not_installed(self):
        wanted = Run(without=frozenset({"browser", "mqtt"})).needs
        self.assertNotIn("chromium", needs.apt(wanted))
        self.assertNotIn("browser", needs.environments(wanted))
        self.assertIn("tshark", needs.apt(wanted))
        self.assertNotIn("debootstrap", needs.apt(wanted))
        self.assertIn("debootstrap", needs.apt(Run(steps=frozenset({"package"})).needs))

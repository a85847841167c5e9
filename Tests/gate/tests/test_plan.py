"""The samples are built in the package's folder, and leave its plan as it was."""

import pathlib
import tempfile
import unittest
from unittest import mock

import gate
import places
import results
from runs import Run


class PlanTests(unittest.TestCase):
    def build(self, succeeds: bool) -> str:
        """Builds the samples with a compiler that writes a plan, and returns the plan that is there afterwards."""
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(places, "BUILD", pathlib.Path(folder)):
            plan = pathlib.Path(folder, "debug.yaml")
            plan.write_text("the package's")

            def command(_: list[str]) -> None:
                plan.write_text("the samples'")
                if not succeeds:
                    raise OSError

            jobs = gate.samples(results.Results(), mock.Mock(spec=Run))
            building = next(job for job in jobs if job.name == "build Samples")
            try:
                building.run(mock.Mock(command=command))
            except OSError:
                self.assertFalse(succeeds)
            return plan.read_text()

    def test_it_stays_the_packages(self) -> None:
        self.assertEqual([self.build(True), self.build(False)], ["the package's"] * 2)

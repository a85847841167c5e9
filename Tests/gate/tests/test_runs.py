"""Results, skips, repetitions and schedules."""

import contextlib
import json
import pathlib
import tempfile
import time
import unittest
from unittest import mock

import gate
import known
import load
import options
import places
import processes
import repeat
import report
import rest
import results
import schedule
import skips
from runs import Run


def test(name: str) -> str:
    place = {"_filePath": "/a/Tests/A.swift", "line": 7, "column": 2}
    kind = "function" if "(" in name else "suite"
    return json.dumps({"kind": "test", "payload": {"id": name, "kind": kind, "sourceLocation": place}})


def event(kind: str, name: str | None = None, symbol: str = "default", text: str = "", at: float = 0, **more) -> str:
    message = {"symbol": symbol, "text": text}
    payload = {"kind": kind, "instant": {"absolute": at}, "messages": [message], "testID": name, **more}
    return json.dumps({"kind": "event", "payload": payload})


A, B, C, SUITE = "ToolsTests.S/a()/A.swift:7:2", "ToolsTests.S/b(_:)/A.swift:8:2", "ToolsTests.S/c()/A.swift:9:2", "ToolsTests.S"
STREAM = [
    *(test(name) for name in (SUITE, A, B, C)),
    event("testStarted", SUITE),
    event("testStarted", A),
    event("testCaseStarted", A, at=5),
    event("testEnded", A, "pass", at=7),
    event("testStarted", B),
    event(
        "issueRecorded", B, "fail", "it went wrong", issue={"sourceLocation": {"fileID": "T/A.swift", "line": 9}},
        _testCase={"displayName": "2"},
    ),
    event("issueRecorded", B, "warning", "it looks odd"),
    event("testEnded", B, "fail"),
    event("testSkipped", C, "skip", 'Test c() skipped: "no mosquitto"', _comments=["no mosquitto"]),
]


class ResultTests(unittest.TestCase):
    def test_outcomes(self):
        found, has_ended = results.parse([*STREAM, event("runEnded")])
        self.assertTrue(has_ended)
        outcomes = {name: test.outcome for name, test in found.tests.items() if not test.is_suite}
        self.assertEqual(
            outcomes, {"ToolsTests.S/a()": "passed", "ToolsTests.S/b(_:)": "failed", "ToolsTests.S/c()": "skipped"}
        )
        self.assertEqual(found.tests["ToolsTests.S/a()"].seconds, 2)
        self.assertEqual([test.issues for test in found.failures], [["T/A.swift:9: with 2: it went wrong"]])

    def test_a_run_that_is_cut_off_tells_what_was_under_way(self):
        found, has_ended = results.parse([*STREAM[:7], '{"kind":'])
        self.assertFalse(has_ended)
        self.assertEqual([test.id for test in found.of("started")], ["ToolsTests.S/a()"])


class SkipTests(unittest.TestCase):
    LIST = skips.read(
        "gate | : long: | Depth.\nwithout mqtt | no mosquitto | No broker.\none-core | Tick | Two cores.\n"
        "sanitizer thread | wakes | Counts."
    )

    def rejected(self, reason: str, **options) -> bool:
        skipped = results.Test("A.TickTests/a()" if reason == "" else "A.B/a()", "", outcome="skipped", reason=reason)
        return bool(skips.unexpected([skipped], self.LIST, Run(**{"cores": 2, **options})))

    def test_conditions(self):
        self.assertFalse(self.rejected("long: runs later"))
        self.assertTrue(self.rejected("long: runs later", steps=frozenset({"long"})))
        self.assertTrue(self.rejected("no mosquitto"))
        self.assertFalse(self.rejected("no mosquitto", without=frozenset({"mqtt"})))
        self.assertTrue(self.rejected(""))
        self.assertFalse(self.rejected("", cores=1))
        self.assertFalse(self.rejected("it wakes", sanitizer="thread"))
        self.assertTrue(self.rejected("it wakes", sanitizer="address"))
        self.assertTrue(self.rejected("something else"))

    def test_mistakes(self):
        for text in ("never | a | b", "without nothing | a | b", "gate | a", "gate | ( | b"):
            with self.assertRaises(ValueError):
                skips.read(text)


class RepeatTests(unittest.TestCase):
    def test_counts_are_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "counts.tsv")
            counts = repeat.Counts(file)
            found, _ = results.parse(STREAM)
            found.tests["ToolsTests.S/d()"] = results.Test("ToolsTests.S/d()", "", outcome="started")
            counts.add(found)
            counts.add(found)
            again = repeat.Counts(file)
            self.assertEqual(dict(again.of["ToolsTests.S/a()"]), {"passed": 2, "failed": 0, "skipped": 0})
            self.assertEqual(again.of["ToolsTests.S/b(_:)"]["failed"], 2)
            self.assertEqual(again.of["ToolsTests.S/d()"]["failed"], 2)
            self.assertEqual(again.runs("ToolsTests.S/c()"), 2)
            self.assertEqual(again.runs("another"), 0)

    def test_an_issue_of_no_test_fails_the_run(self):
        for stray, status in (([], 0), (["an issue of the run"], 1)):
            found = results.Results()
            found.stray = stray
            found.tests[A] = results.Test(A, "", outcome="passed")
            with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as patches:
                for patch in (
                    mock.patch.object(repeat, "FOLDER", pathlib.Path(folder)),
                    mock.patch.object(places, "LOGS", pathlib.Path(folder)),
                    mock.patch.object(places, "ROOT", pathlib.Path(folder)),
                    mock.patch.object(repeat.modules, "run_tests", return_value=found),
                    mock.patch.object(repeat, "say"),
                    mock.patch.object(schedule, "say"),
                ):
                    patches.enter_context(patch)
                repetition = repeat.Repetition(options.parse(["--repeat", "1"]))
                repetition.run([A])
                self.assertEqual(repetition.tell([A]), status)

    def test_parts(self):
        names = [f"{module}.S/test{number}()" for module in "AB" for number in range(100)]
        self.assertEqual([len(part) for part in repeat.parts_of(names, None, 1)], [100, 100])
        first, second, other = (repeat.parts_of(names, seed, number) for seed, number in ((7, 1), (7, 1), (7, 2)))
        self.assertEqual(first, second)
        self.assertNotEqual(first, other)
        self.assertEqual(sorted(sum(first, [])), sorted(names))
        self.assertTrue(all(len(part) <= repeat.PART for part in first))

    def test_a_long_list_is_cut(self):
        names = [f"A.S/{'x' * 100}{number}()" for number in range(3000)]
        parts = repeat.parts_of(names, None, 1)
        self.assertGreater(len(parts), 2)
        self.assertTrue(all(len(repeat.pattern_of(part)) <= repeat.LONGEST_PATTERN for part in parts))

    def test_descendants(self):
        self.assertEqual(load.descendants(1, {2: 1, 3: 2, 4: 9, 9: 8}), [2, 3])


class StepTests(unittest.TestCase):
    def needed(self, *steps: str) -> set[str]:
        """The jobs of the gate that steps need."""
        run = Run(steps=frozenset(steps))
        found = results.Results()
        names = set().union(*(job.needs for job in rest.jobs(run, found)))
        return {job.name for job in schedule.needed(gate.jobs(run, found), names)}

    def test_what_steps_need(self):
        self.assertEqual(self.needed("fuzz"), {"packages"})
        self.assertEqual(self.needed("way"), {"packages", gate.APT, gate.BUILD})
        installs = {"packages", *gate.INSTALLS}
        self.assertEqual(self.needed("samples", "fuzz"), {*installs, gate.BUILD, "build Samples"})
        self.assertEqual(self.needed("long"), set())

    def test_the_last_line(self):
        job = schedule.Job("x", lambda _: None)
        run = Run(steps=frozenset({"fuzz"}))
        for kind, status in [("step", 0), ("module", 1)]:
            job.kind = kind
            with mock.patch.object(report, "say"):
                plan = schedule.Schedule([job], {}, time.monotonic())
                self.assertEqual(report.tell(plan, results.Results(), run, []), status)


class ScheduleTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for patch in (
            mock.patch.object(places, "LOGS", pathlib.Path(folder.name)),
            mock.patch.object(places, "ROOT", pathlib.Path(folder.name)),
            mock.patch.object(schedule, "say"),
        ):
            patch.start()
            self.addCleanup(patch.stop)
        self.addCleanup(processes.ending.clear)
        self.order: list[str] = []

    def job(self, name: str, error: str = "", **options) -> schedule.Job:
        def run(_):
            self.order.append(name)
            if error:
                raise schedule.Failed(error)

        return schedule.Job(name, run, **options)

    def run_all(self, *jobs: schedule.Job, lanes: dict[str, int] | None = None) -> schedule.Schedule:
        plan = schedule.Schedule(list(jobs), lanes or {}, time.monotonic())
        plan.run()
        return plan

    def test_order(self):
        self.run_all(self.job("c", needs={"b"}), self.job("b", after={"a", "missing"}), self.job("a"))
        self.assertEqual(self.order, ["a", "b", "c"])

    def test_a_lane_has_places(self):
        self.run_all(*(self.job(str(number), lane="x") for number in range(5)), lanes={"x": 1})
        self.assertEqual(self.order, ["0", "1", "2", "3", "4"])

    def test_what_needs_a_failed_job_is_not_run(self):
        plan = self.run_all(self.job("a", "broken"), self.job("b", needs={"a"}), self.job("c", after={"a"}))
        self.assertEqual(self.order, ["a", "c"])
        self.assertEqual([job.name for job in plan.failed], ["a", "b"])

    def test_a_vital_failure_ends_all(self):
        plan = self.run_all(self.job("a", "broken", is_vital=True), self.job("b", after={"a"}))
        self.assertEqual(self.order, ["a"])
        self.assertEqual([job.name for job in plan.failed], ["a", "b"])

    def test_a_command_that_takes_too_long_is_ended(self):
        job = schedule.Job("slow", lambda job: job.command(["sh", "-c", "sleep 100 & sleep 100"], limit=0.2))
        self.run_all(job)
        self.assertIn("took more than", job.error)


class RestTests(unittest.TestCase):
    def jobs(self, *steps: str, without: str = "") -> list[schedule.Job]:
        return rest.jobs(Run(steps=frozenset(steps), without=frozenset(without.split())), results.Results())

    def test_every_step_has_jobs(self):
        for step in rest.STEPS:
            # The gate's modules run the long tests.
            self.assertEqual(bool(self.jobs(step)), step != "long", step)

    def test_a_step_whose_need_is_left_out_has_none(self):
        self.assertEqual(self.jobs("way", "swift-6.2", without="valgrind swift-6.2"), [])

    def test_the_way_is_counted_in_the_build_of_the_gate(self):
        self.assertEqual([job.needs for job in self.jobs("way")], [{"build", "packages for the tests"}])


class KnownFailureTests(unittest.TestCase):
    LIST = "swift-6.2 | A.swift.* error: no | issue 41\nswift-6.2 | B.swift | issue 42"

    def test_only_known_errors_are_explained(self):
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder, "log")
            log.write_text("A.swift:1: error: no\nwarning: x\nB.swift:1: error: other\n")
            self.assertEqual(known.explain("swift-6.2", log, self.LIST), "issue 41; issue 42")
            self.assertIsNone(known.explain("fuzz", log, self.LIST))
            log.write_text("A.swift:1: error: no\nC.swift:1: error: other\n")
            self.assertIsNone(known.explain("swift-6.2", log, self.LIST))
            log.write_text("ended for no reason\n")
            self.assertIsNone(known.explain("swift-6.2", log, self.LIST))

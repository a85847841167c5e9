"""The lists beside the gate are complete and true."""

import subprocess
import unittest

import changed
import known
import lint
import modules
import needs
import places
import rest
import skips
import timings


def tracked() -> list[str]:
    """The files of the repository, those that are not committed too."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=places.ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return [name for name in names if (places.ROOT / name).exists()]


class StepsTests(unittest.TestCase):
    """Tests/steps."""

    def test_every_file_is_on_a_line(self):
        lines = changed.read()
        lost = [file for file in tracked() if not any(changed.matches(pattern, file) for pattern, _ in lines)]
        self.assertEqual(lost, [], "these files are on no line of Tests/steps")

    def test_every_line_has_a_file(self):
        files = tracked()
        empty = [pattern for pattern, _ in changed.read() if not any(changed.matches(pattern, file) for file in files)]
        self.assertEqual(empty, [], "these lines of Tests/steps match no file")

    def test_every_step_is_on_a_line(self):
        self.assertEqual(set().union(*(steps for _, steps in changed.read())), set(rest.STEPS))

    def test_a_line_with_an_unknown_step_is_an_error(self):
        for text in ("Tests/** nothing", "Tests/**"):
            with self.assertRaises(ValueError):
                changed.read(text)

    def test_patterns(self):
        for pattern, file, matches in (
            ("Tests/*", "Tests/run", True),
            ("Tests/*", "Tests/gate/lint.py", False),
            ("Tests/**", "Tests/gate/lint.py", True),
            ("Sources/**/*.swift", "Sources/a.swift", True),
            ("Sources/**/*.swift", "Sources/a/b/c.swift", True),
            ("Sources/**/*.swift", "Sources/a/b/c.md", False),
            (".ci/run", "xci/run", False),
        ):
            self.assertEqual(changed.matches(pattern, file), matches, f"{pattern} {file}")

    def test_a_file_on_no_line_concerns_everything(self):
        lines = changed.read("Tests/** gate\nSources/** fuzz thread\nSources/Core/** simulate")
        self.assertEqual(changed.steps(["Tests/run"], lines), {})
        self.assertEqual(set(changed.steps(["Sources/Core/a.swift"], lines)), {"fuzz", "thread", "simulate"})
        self.assertEqual(set(changed.steps(["Tests/run", "new"], lines)), set(rest.STEPS))


class OtherListTests(unittest.TestCase):
    """Lists that are read only when something is skipped or fails."""

    def test_lists_can_be_read(self):
        self.assertTrue(skips.read())
        lint.exceptions()
        self.assertLessEqual({step for step, _, _ in known.read()}, set(rest.STEPS))

    def test_every_omission_can_be_represented(self):
        conditions = {skip.condition for skip in skips.read()}
        for name in [*needs.BY_NAME, *needs.PERMISSIONS]:
            # Without these a whole step is left out, and no test skips.
            if name not in ("spin", "swift-6.2", "valgrind", "vice"):
                self.assertIn(f"without {name}", conditions)

    def test_modules_are_found(self):
        names = modules.names()
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual(len(names), (places.ROOT / "Package.swift").read_text().count(".testTarget("))

    def test_environments_have_requirements_with_hashes(self):
        for need in needs.NEEDS:
            for name in need.environments:
                text = (places.TESTS / "environments" / f"{name}.txt").read_text()
                packages = text.count("==") - next(line for line in text.splitlines() if line.startswith("# wants")).count("==")
                self.assertGreater(packages, 0, name)
                self.assertGreaterEqual(text.count("--hash=sha256:"), packages, name)

    def test_the_page_shows_the_kept_times(self):
        page = timings.PAGE.read_text()
        self.assertEqual(timings.with_table(page, timings.read(timings.KEPT)), page, "run Tests/timings")

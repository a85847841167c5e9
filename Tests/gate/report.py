"""The last lines of a run: what was left out and skipped, what failed and why, and the counts."""

import collections
import time

import needs
import places
import results
import skips
from runs import Run
from schedule import Schedule, clock, say, step

# Lines of one failure, and of all of them.
LINES, ALL_LINES = 40, 200


def tell(schedule: Schedule, total: results.Results, run: Run, known: list[str]) -> int:
    """Prints the last lines and returns the exit status."""
    unexpected = tell_skips(total.of("skipped"), run, schedule.began)
    failed = schedule.failed
    if failed or total.failures or total.stray or total.unfinished:
        step("what failed", schedule.began)
        tell_failures(schedule, total)
    for test in unexpected:
        say(f"SKIPPED, and no line of Tests/skips allows it: {skips.describe(test)}")
    for name in run.without:
        say(f"left out by --without {name}: {needs.purpose(name)}")
    for text in known:
        say(f"known failure: {text}")
    passed, broken, skipped = (len(total.of(outcome)) for outcome in ("passed", "failed", "skipped"))
    # Of tests that were to run at least one has to.
    has_run = passed > 0 or all(job.kind != "module" for job in schedule.jobs)
    is_good = has_run and not failed and not total.failures and not unexpected and not total.unfinished
    say(f"{'all is well' if is_good else 'FAILED'}, in {clock(time.monotonic() - schedule.began)}")
    say(f"{passed} passed, {broken} failed, {skipped} skipped")
    return 0 if is_good else 1


def tell_skips(skipped: list[results.Test], run: Run, began: float) -> list[results.Test]:
    """Prints skipped tests by their reason, and returns those that the list does not allow."""
    if not skipped:
        return []
    step("skipped", began)
    groups = collections.defaultdict(list)
    for test in skipped:
        groups[test.reason or "(no reason given)"].append(test.id)
    for reason, names in sorted(groups.items()):
        shown = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
        say(f"{len(names)} × {reason}: {shown}")
    return skips.unexpected(skipped, skips.read(), run)


def tell_failures(schedule: Schedule, total: results.Results) -> None:
    """Prints each failure once more, where a reader of a long log looks first."""
    shown = 0
    omitted = [job.name for job in schedule.failed if job.is_omitted]
    if omitted:
        say(f"not run, because something else failed: {', '.join(omitted)}")
    for job in schedule.failed:
        if job.is_omitted:
            continue
        if job.kind != "module" or not job.summary:
            say(f"{job.name}: {job.error} (output: {job.log.relative_to(places.ROOT)})")
    for test in total.failures:
        lines = [f"✘ {test.id} ({test.place})"]
        lines += ["    " + line for issue in test.issues for line in issue.splitlines()]
        for line in lines[:LINES] if shown < ALL_LINES else lines[:1]:
            say(line)
        shown += min(len(lines), LINES)
    for text in [*total.stray, *total.unfinished]:
        say(text)

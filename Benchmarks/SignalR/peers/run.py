"""The time of a run, by the clock and by the processor, as every contender prints it."""

import time


class Run:
    def __init__(self) -> None:
        self.start = time.perf_counter()
        self.used = time.process_time()

    def finish(self, times=()) -> None:
        """Prints seconds, the processor's seconds, and of round trips the median and 99th percentile in µs."""
        seconds = time.perf_counter() - self.start
        used = time.process_time() - self.used
        percentiles = []
        if times:
            times = sorted(times)
            percentiles = [1e6 * times[len(times) // 2], 1e6 * times[len(times) * 99 // 100]]
        print(seconds, used, *percentiles, flush=True)

"""Each rule of Tests/lint finds what it should, and nothing else."""

import unittest

import lint

# A line and the rules that it breaks.
PLANTED = [
    ("try await Task.sleep(for: .seconds(1))", "sleep"),
    ("try await Task<Never, Never>.sleep(nanoseconds: 5)", "sleep"),
    ("try await clock.sleep(until: later)", "sleep"),
    ("usleep(1000)", "sleep"),
    ("Thread.sleep(forTimeInterval: 1)", "sleep"),
    ('let text = "\\(try await Task.sleep(for: .seconds(1)))"', "sleep"),
    ("// Task.sleep is not used", ""),
    ('print("Task.sleep(for: )")', ""),
    ("/* usleep(1) */ let a = 1", ""),
    ("#expect(ContinuousClock.now - start < .seconds(1))", "clock"),
    ("#expect(ContinuousClock().now < deadline)", "clock"),
    ("try #require(abs(Date().timeIntervalSince(before)) < 3)", "clock"),
    ("#expect(start.duration(to: .now) < .seconds(1))", "clock"),
    ("#expect(await wait(until: (1 + 2) * .now))", "clock"),
    ("let now = ContinuousClock.now", ""),
    ("#expect(a == b); let now = ContinuousClock.now", ""),
    ("#expect(clock.now == later)", ""),
    ("let process = Process()", "process"),
    ("let process = ChildProcess()", ""),
    ("let place = ServicePlace.address(host: \"127.0.0.1\", port: 5301)", "port"),
    ("channel.bind(host: host, port: 5_000)", "port"),
    ('["--port", "5000"]', "port"),
    ('"http://localhost:8080/hub"', "port"),
    ("let port = 7000", "port"),
    ('"http://localhost:80"', ""),
    ('"127.0.0.1:99999"', ""),
    ('.init("rover.local", port: 5000)', ""),
    ('.address(host: "127.0.0.1", port: 0)', ""),
    ("let seed = UInt64.random(in: 0 ... .max)", "random"),
    ("let seed = UInt64.random(in: 0 ... .max, using: &random)", ""),
    ("let order = names.shuffled()", "random"),
    ("let order = names.shuffled(using: &random)", ""),
    ("let one = faults.randomElement()", "random"),
    ("var random = SystemRandomNumberGenerator()", "random"),
]


class LintTests(unittest.TestCase):
    def test_planted_lines(self):
        for line, rule in PLANTED:
            found = lint.check("Tests/A.swift", f"import Testing\n\n{line}\n")
            self.assertEqual([(item.line, item.rule) for item in found], [(3, rule)] if rule else [], line)

    def test_literals_and_comments(self):
        text = 'let a = """\n  usleep(1) "quoted" \\(usleep(2))\n  """\nlet b = #"\\(usleep(3)) \\#(usleep(4))"#\nusleep(5)\n'
        self.assertEqual([item.line for item in lint.check("a", text)], [2, 4, 5])
        code = lint.blank(text, strings=True)
        self.assertEqual(len(code), len(text))
        self.assertEqual([f"usleep({number})" in code for number in range(1, 6)], [False, True, False, True, True])

    def test_exceptions(self):
        allowed = lint.exceptions("# comment\nTests/A.swift | sleep | sleep\\(for | it waits for nothing\n")
        found = lint.check("Tests/A.swift", "Task.sleep(for: a)\nTask.sleep(until: b)\n")
        self.assertEqual([item.line for item in lint.remaining(found, allowed)], [2])
        self.assertTrue(allowed[0].is_used)
        for text in ("Tests/A.swift | sleep | sleep", "a | b | c | d", "a | sleep | c | "):
            with self.assertRaises(ValueError):
                lint.exceptions(text)

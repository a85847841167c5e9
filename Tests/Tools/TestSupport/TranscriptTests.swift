import Testing

@testable import TestSupport

/// What tests that wait for a line, a message or a call rely on.
struct TranscriptTests {
    private func transcript(_ entries: String...) -> Transcript<String> {
        let transcript = Transcript<String>()
        for entry in entries { transcript.add(entry) }
        return transcript
    }

    private func failure(_ body: () async throws -> Void) async -> String {
        do {
            try await body()
            Issue.record("nothing was thrown")
            return ""
        } catch {
            #expect(error is TestSupportError)
            return "\(error)"
        }
    }

    @Test
    func aWaitTakesTheFirstMatchAndLeavesAllOthers() async throws {
        let transcript = transcript("a1", "b1", "a2", "b2")
        #expect(try await transcript.next { $0.hasPrefix("b") } == "b1")
        #expect(try await transcript.next { $0.hasPrefix("a") } == "a1")
        #expect(try await transcript.next() == "a2")
        #expect(try await transcript.next { $0.hasPrefix("b") } == "b2")
        #expect(transcript.all == ["a1", "b1", "a2", "b2"])
        let text = await failure { try await transcript.next("another", within: .zero) }
        #expect(text.contains("another did not come within 0.0 seconds"))
    }

    @Test
    func anOrderIsDemandedWhereItIsAskedFor() async throws {
        let transcript = transcript("value", "lost", "back", "value")
        let loss = try await transcript.find(after: nil, within: Patience.wait) { $0 == "lost" }
        let value = try await transcript.find(after: loss.place, within: Patience.wait) { $0 == "value" }
        #expect(value.place > loss.place)
        // The earlier one is still there, and no other.
        #expect(try await transcript.next(within: .zero) { $0 == "value" } == "value")
        _ = await failure { try await transcript.next(within: .zero) { $0 == "value" } }
        // Nothing is after the newest.
        let newest = transcript.place
        _ = await failure { try await transcript.next(after: newest, within: .zero) }
        async let next = transcript.next(after: newest)
        transcript.add("new")
        #expect(try await next == "new")
    }

    /// Whether they wait before or after the entries come.
    @Test(arguments: [false, true])
    func noTwoWaitsTakeTheSameEntry(_ comeFirst: Bool) async throws {
        let transcript = Transcript<Int>()
        if comeFirst { for number in 0..<100 { transcript.add(number) } }
        let taken = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<100 {
                group.addTask { try await transcript.next { $0 % 10 == number % 10 } }
            }
            if !comeFirst { for number in 0..<100 { transcript.add(number) } }
            return try await group.reduce(into: Set<Int>()) { $0.insert($1) }
        }
        #expect(taken == Set(0..<100))
    }

    @Test
    func countingTakesNothing() async throws {
        let transcript = transcript("a")
        async let two: Void = transcript.wait(for: 2)
        transcript.add("b")
        try await two
        try await transcript.wait(for: 0)
        #expect(try await transcript.next() == "a")
        try await transcript.wait(for: 2)
        #expect(transcript.count == 2)
    }

    @Test
    func aFailedWaitShowsAllEntriesWithTimes() async throws {
        let transcript = Transcript<[Int]>(describe: { "numbers \($0)" })
        let empty = await failure { try await transcript.next("a number", within: .zero) }
        #expect(empty.hasSuffix("(nothing was said)"))
        transcript.add([1, 2])
        transcript.add([3])
        try await transcript.next()
        let text = await failure { try await transcript.next("an empty one", within: .zero) { $0.isEmpty } }
        let lines = text.split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines[0].contains("TranscriptTests.swift:") && lines[0].contains("an empty one did not come within"))
        // One that was taken is shown too.
        #expect(lines[1] == "0.0 numbers [1, 2]")
        #expect(lines[2].hasSuffix(" numbers [3]") && Double(lines[2].prefix { $0 != " " }) != nil)
    }

    @Test
    func ofThousandsOfEntriesTheMiddleIsLeftOut() async {
        let transcript = Transcript<Int>()
        for number in 0..<5000 { transcript.add(number) }
        let lines = await failure { try await transcript.next(within: .zero) { $0 < 0 } }.split(separator: "\n")
        #expect(lines.count == 1202)
        #expect(lines[401].contains("3800 lines") && lines.last?.hasSuffix(" 4999") == true)
    }

    @Test(arguments: [false, true])
    func aCancelledWaitFailsAndTakesNothing(_ isCancelledBefore: Bool) async throws {
        let transcript = Transcript<String>()
        let waiting = Task {
            if isCancelledBefore { while !Task.isCancelled { await Task.yield() } }
            return try await transcript.next()
        }
        waiting.cancel()
        let text = await failure { _ = try await waiting.value }
        #expect(text.contains("before the test was cancelled"))
        transcript.add("late")
        #expect(try await transcript.next() == "late")
    }

    @Test
    func theEndFailsWaitsAndKeepsEntries() async throws {
        let transcript = transcript("a", "b")
        let waiting = Task { try await transcript.next { $0 == "c" } }
        transcript.end()
        let text = await failure { _ = try await waiting.value }
        #expect(text.contains("did not come before the end"))
        #expect(transcript.isAtEnd)
        #expect(try await transcript.next { $0 == "b" } == "b")
        _ = await failure { try await transcript.wait(for: 3) }
    }

    @Test
    func aConditionThatDoesNotComeAboutNamesItsPlace() async {
        let text = await failure { try await eventually("the moon", within: .zero) { false } }
        #expect(text.contains("TranscriptTests.swift:") && text.hasSuffix("the moon"))
    }
}

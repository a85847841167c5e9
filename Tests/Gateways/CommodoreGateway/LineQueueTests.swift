import SerialLines
import Testing

/// Which clients of a gateway are paused while the line is busy.
struct LineQueueTests {
    private struct Item: LineQueueItem {
        let client: String?
        let byteCount: Int
        var latest: Int8?
    }

    private struct Bench {
        var queue = LineQueue<Item>(maximumByteCount: 4 * 1024 * 1024)

        /// Whether the client has to wait that sends a value of so many bytes.
        mutating func send(_ client: String, _ byteCount: Int, latest: Int8? = nil) -> Bool {
            let before = queue.byteCount(of: client)
            let hasRoom = queue.append(Item(client: client, byteCount: byteCount, latest: latest))
            #expect(hasRoom)
            return queue.pauses(client, before: before)
        }
    }

    @Test
    func oneValueOfAnySizeOrManySmallOnesPauseNobody() {
        var bench = Bench()
        var isToWait = bench.send("large", 500_000)
        #expect(!isToWait)
        for _ in 0..<16 {
            isToWait = bench.send("small", 1000)
            #expect(!isToWait)
        }
        isToWait = bench.send("large", 500_000, latest: 1)
        #expect(!isToWait)
    }

    @Test
    func aClientThatKeepsSendingIsPausedUntilTheLineHasCaughtUp() {
        var bench = Bench()
        // The second of a is told to wait, and told so once.
        for (client, byteCount, expected) in [
            ("a", 20_000, false), ("a", 10, true), ("a", 10, false), ("b", 10, false), ("a", 10, false),
        ] {
            let isToWait = bench.send(client, byteCount)
            #expect(isToWait == expected)
        }
        var resumed = bench.queue.takeResumed()
        #expect(resumed.isEmpty)
        bench.queue.popFirst()
        resumed = bench.queue.takeResumed()
        #expect(resumed == ["a"])
        while bench.queue.popFirst() != nil {}
        #expect(bench.queue.byteCount(of: "a") == 0 && bench.queue.byteCount == 0)
        resumed = bench.queue.takeResumed()
        #expect(resumed.isEmpty)
    }

    @Test
    func allClientsArePausedWhileTooMuchIsQueued() {
        var bench = Bench()
        let isFirstToWait = bench.send("a", LineQueue<Item>.totalMark + 1)
        let isSecondToWait = bench.send("b", 1)
        #expect(isFirstToWait && isSecondToWait)
        // The queue was emptied: a program began anew.
        bench.queue.removeAll()
        let resumed = bench.queue.takeResumed()
        #expect(Set(resumed) == ["a", "b"])
        let none = bench.queue.takeResumed()
        #expect(none.isEmpty)
    }
}

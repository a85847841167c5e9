import SerialLines
import Testing

/// Which clients of a gateway are paused while the line is busy.
struct ClientSharesTests {
    private typealias Shares = ClientShares<String>

    @Test
    func oneValueOfAnySizeOrManySmallOnesPauseNobody() {
        var shares = Shares()
        let isLargeToWait = shares.note("large", 500_000, queued: 500_000, waiting: 500_000)
        #expect(!isLargeToWait)
        var queued = 500_000
        for _ in 0..<16 {
            queued += 1000
            let isToWait = shares.note("small", 1000, queued: queued, waiting: queued)
            #expect(!isToWait)
        }
    }

    @Test
    func aClientThatKeepsSendingIsPausedUntilTheLineHasCaughtUp() {
        var shares = Shares()
        var queued = 0
        // The second of a is told to wait, and told so once.
        for (client, byteCount, expected) in [
            ("a", 20_000, false), ("a", 10, true), ("a", 10, false), ("b", 10, false),
        ] {
            queued += byteCount
            let isToWait = shares.note(client, byteCount, queued: queued, waiting: queued)
            #expect(isToWait == expected)
        }
        for (gone, expected) in [(19_999, []), (20_000, ["a"]), (20_030, [])] {
            let resumed = shares.takeResumed(gone: gone, waiting: queued - gone)
            #expect(resumed == expected)
        }
    }

    @Test
    func allClientsArePausedWhileTooMuchIsQueued() {
        var shares = Shares()
        let all = Shares.totalMark + 1
        let isFirstToWait = shares.note("a", all, queued: all, waiting: all)
        let isSecondToWait = shares.note("b", 1, queued: all + 1, waiting: all + 1)
        #expect(isFirstToWait && isSecondToWait)
        // The queue was emptied: a program began anew.
        let resumed = shares.takeResumed(gone: all + 1, waiting: 0)
        #expect(Set(resumed) == ["a", "b"])
        let paused = shares.removeAll()
        #expect(paused.isEmpty)
    }
}

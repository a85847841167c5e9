import MachineReadings
import Testing

@Suite struct CounterTests {
    static let headings = """
        Inter-|   Receive                                                |  Transmit
         face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed

        """

    @Test func networkLeavesOutTheLoopback() throws {
        let text =
            Self.headings
            + "    lo: 777 1 0 0 0 0 0 0 777 1 0 0 0 0 0 0\n"
            + "  eth0: 1000 1 0 0 0 0 0 0 20 1 0 0 0 0 0 0\n"
            + "eth0:1:4 1 0 0 0 0 0 0 5 1 0 0 0 0 0 0\n"
            + " wlan0:300 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n"
        let counters = try #require(NetworkCounters(text))
        #expect(counters.bytesReceived == 1304)
        #expect(counters.bytesSent == 26)
    }

    @Test func networkSkipsWhatItCannotRead() throws {
        let counters = try #require(NetworkCounters(Self.headings + " eth0: 1 2 3\n eth1\n eth2: x x x x x x x x x\n"))
        #expect(counters.bytesReceived == 0)
        #expect(NetworkCounters("") == nil)
        #expect(NetworkCounters("one\ntwo\n") == nil)
    }

    @Test func networkRates() throws {
        func counters(_ received: Int, _ sent: Int) throws -> NetworkCounters {
            try #require(NetworkCounters(Self.headings + "eth0: \(received) 1 0 0 0 0 0 0 \(sent) 1 0 0 0 0 0 0\n"))
        }
        let rates = try #require(try counters(3000, 200).rates(since: counters(1000, 100), seconds: 2))
        #expect(rates.received == 1000)
        #expect(rates.sent == 50)
        #expect(try counters(1, 1).rates(since: counters(2, 1), seconds: 1) == nil)
        #expect(try counters(1, 1).rates(since: counters(1, 1), seconds: 0) == nil)
    }

    @Test func processorLoad() throws {
        let before = try #require(CPUTimes("cpu  100 0 100 700 100 0 0 0 0 0\ncpu0 1 1 1 1\n"))
        let after = try #require(CPUTimes("cpu  150 10 110 760 110 5 5 10 50 0\n"))
        #expect(before.busy == 200)
        #expect(before.idle == 800)
        // Guest time, 50 ticks, is in the user's 150.
        #expect(try #require(after.load(since: before)) == 100 * 90.0 / 160)
        #expect(before.load(since: before) == nil)
        #expect(before.load(since: after) == nil)
    }

    @Test(arguments: ["", "cpu0 1 2 3 4\n", "cpu 1 2 3\n", "cpu 1 2 x 4\n"])
    func processorRefuses(_ text: String) { #expect(CPUTimes(text) == nil) }
}

import ElementalFollowing
import Support
import Testing

@testable import Dashboard
@testable import Elemental

/// What waits for the next tick.
struct InboxTests {
    private static let speed = Element<Float>(1, "Speed")
    private static let reset = Element<Bool>(2, "Reset", access: .write)
    private let key = ServiceKey(service: "robot", name: "Rover")
    private let wakes = Locked(0)

    private func makeInbox() -> Inbox { Inbox { [wakes] in wakes.withLock { $0 += 1 } } }

    /// The value that waits for an element, and whether a page has set it.
    private func arrival(_ batch: Inbox.Batch, _ id: Int8) -> (value: ElementValue, isOwn: Bool)? {
        var found: (ElementValue, Bool)?
        batch.values[key]?.forEach { element, value, isOwn in
            if element.id == id { found = (value, isOwn) }
        }
        return found
    }

    @Test
    func theNewestValueCountsAndTheFirstWakes() {
        let inbox = makeInbox()
        for number in 1...100 { inbox.put(.value(key, Self.speed, .float(Float(number)))) }
        #expect(wakes.withLock { $0 } == 1)
        let batch = inbox.take()
        #expect(arrival(batch, 1)?.value == .float(100))
        #expect(batch.events.isEmpty)
        #expect(inbox.take().isEmpty)
        inbox.put(.value(key, Self.speed, .float(1)))
        #expect(wakes.withLock { $0 } == 2)
    }

    /// The service answers while the value is still being sent.
    @Test
    func whatIsAnsweredIsNewerThanWhatWasSent() async throws {
        let inbox = makeInbox()
        let (started, start) = AsyncStream.makeStream(of: Void.self)
        let answer = Task { [key] in
            for await _ in started {
                inbox.put(.value(key, Self.speed, .float(0.5)))
                return
            }
        }
        try inbox.put(.float(0.7), of: Self.speed, key) { () throws(ElementalError) in
            start.yield()
            // Long enough for the answer, which has to wait all the same.
            for _ in 0..<200_000 { _ = wakes.withLock { $0 } }
        }
        await answer.value
        let arrival = arrival(inbox.take(), 1)
        #expect(arrival?.value == .float(0.5))
        #expect(arrival?.isOwn == false)
    }

    @Test
    func whatIsRefusedIsNotTheValue() throws {
        let inbox = makeInbox()
        try inbox.put(.float(0.7), of: Self.speed, key) { () throws(ElementalError) in }
        #expect(arrival(inbox.take(), 1)?.isOwn == true)
        try inbox.put(.float(0.8), of: Self.speed, key) { () throws(ElementalError) in }
        inbox.put(.refusal(key, Self.speed, ValueRefusal("no")))
        #expect(arrival(inbox.take(), 1) == nil)
        // What the service says itself stays.
        inbox.put(.value(key, Self.speed, .float(0.5)))
        inbox.put(.refusal(key, Self.speed, ValueRefusal("no")))
        #expect(arrival(inbox.take(), 1)?.value == .float(0.5))
    }

    @Test
    func whatCannotBeSentOrReadIsNotShown() throws {
        let inbox = makeInbox()
        #expect(throws: ElementalError.self) {
            try inbox.put(.float(0.7), of: Self.speed, key) { () throws(ElementalError) in
                throw ElementalError(.notConnected, "it is gone")
            }
        }
        try inbox.put(.bool(true), of: Self.reset, key) { () throws(ElementalError) in }
        #expect(inbox.take().isEmpty)
        #expect(wakes.withLock { $0 } == 0)
    }

    @Test
    func ratesComeFromTwoLooks() {
        var meter = QualityMeter()
        var statistics = DeviceStatistics()
        let start = ContinuousClock.now
        #expect(meter.look(at: statistics, start) == Quality())
        statistics.messagesReceived = 40
        statistics.messagesSent = 10
        statistics.messagesReplaced = 2
        statistics.datagramsDropped = 1
        statistics.messagesOutdated = 4
        statistics.roundTripTime = .milliseconds(3)
        let quality = meter.look(at: statistics, start + .seconds(2))
        #expect(quality == Quality(roundTrip: .milliseconds(3), received: 20, sent: 5, lost: 7))
        // Another connection, which counts anew.
        #expect(meter.look(at: DeviceStatistics(), start + .seconds(3)).received == 0)
    }
}

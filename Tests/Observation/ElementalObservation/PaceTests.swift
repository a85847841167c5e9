import Dispatch
import Elemental
import Support
import TestSupport
import Testing

@testable import ElementalObservation

/// How often a model changes while values come fast.
@MainActor
@Suite(.backstop)
struct PaceTests {
    /// The time of an inbox, which only the test moves.
    private final class ManualClock: Sendable {
        private struct State {
            var now = ContinuousClock.now
            var timers: [(due: ContinuousClock.Instant, body: @Sendable () -> Void)] = []
        }

        private let state = Locked(State())

        var clock: InboxClock {
            InboxClock(
                now: { [state] in state.withLock { $0.now } },
                schedule: { [state] delay, body in state.withLock { $0.timers.append(($0.now + delay, body)) } })
        }

        func advance(by duration: Duration) {
            let due = state.withLock { state in
                state.now += duration
                let due = state.timers.filter { $0.due <= state.now }
                state.timers.removeAll { $0.due <= state.now }
                return due
            }
            for timer in due { timer.body() }
        }
    }

    @Test(arguments: [(Duration.seconds(1) / 60, 60), (.milliseconds(200), 5), (.seconds(2), 1)])
    func thereIsOneNotificationAFrame(_ frame: Duration, _ perSecond: Int) {
        let clock = ManualClock()
        let inbox = Inbox(DeviceArrivals(), frame: frame, clock: clock.clock)
        let count = Locked(0)
        inbox.onArrival {
            count.withLock { $0 += 1 }
            _ = inbox.take { $0.removeAll() }
        }
        // Values at 1 kHz for a second.
        for _ in 0..<1000 {
            inbox.put { $0.changed.insert(1) }
            clock.advance(by: .milliseconds(1))
        }
        // The first one comes at once.
        let number = count.withLock { $0 }
        #expect((perSecond - 1...perSecond + 1).contains(number), "\(number)")
        // The last of them are told when their frame is over. After a pause the next one comes at once too.
        clock.advance(by: frame)
        clock.advance(by: .seconds(10))
        let before = count.withLock { $0 }
        inbox.put { $0.changed.insert(1) }
        #expect(count.withLock { $0 } == before + 1)
    }

    @Test
    func eachOfTenElementsIsSeenByItsOwnViews() async throws {
        try await Lamp.with { service in
            let model = try await Lamp.connectedModel(of: service)
            let watches = Lamp.channels.map { channel in Watch { _ = model[channel] } }
            let brightness = Watch { _ = model[Lamp.brightness] }
            let other = Watch { _ = model[Lamp.title] }
            service.relay(Lamp.brightness)
            let sending = Task.detached {
                for round in 1...120 {
                    for channel in Lamp.channels { try service.send(Double(round), to: channel) }
                    await Task.yield()
                }
            }
            // A finger that moves meanwhile: of its values each is seen, and each that is sent has an answer.
            for step in 1...100 {
                model[Lamp.brightness] = Float(step) / 100
                await Task.yield()
            }
            try await sending.value
            try await eventually { Lamp.channels.allSatisfy { model[$0] == 120 } }
            #expect(brightness.count == 100)
            #expect(watches.allSatisfy { (1...120).contains($0.count) }, "\(watches.map(\.count))")
            #expect(other.count == 0)
        }
    }

    @Test
    func thePaceCanBeSet() async throws {
        try await Lamp.with { service in
            var pace = ObservationPace()
            pace.frame = .seconds(100_000)
            pace.statistics = .seconds(100_000)
            let port = try #require(service.port)
            let slow = Lamp.model(at: port, pace: pace)
            pace = ObservationPace()
            pace.statistics = .milliseconds(20)
            let fast = Lamp.model(at: port, pace: pace)
            // The service has let both in: all that it sends from now on arrives.
            try await eventually {
                slow.state.isConnected && fast.state.isConnected && service.devices.count == 2
                    && !slow.isRoundUnderWay && !fast.isRoundUnderWay
            }
            let channel = Lamp.channels[0]
            let (seen, measured) = (Watch { _ = slow[channel] }, Watch { _ = slow.statistics })
            let device = try #require(slow.device)
            for round in 1...20 {
                try service.send(Double(round), to: channel)
                try await eventually { fast[channel] == Double(round) && device.value(of: channel) == Double(round) }
                try await eventually { fast.statistics.messagesReceived >= UInt64(round) }
            }
            #expect(seen.count <= 1 && measured.count <= 1, "\(seen.count) and \(measured.count) times in a frame")
            #expect(fast.statistics.bytesReceived >= 20 * 13)
            // A program that comes back from the background does not wait for the next frame.
            slow.resume()
            #expect(slow[channel] == 20)
        }
    }

    /// A program in the background runs nothing on its main thread.
    @Test
    func afterAPauseTheModelHasTheNewestValuesAtOnce() async throws {
        try await Lamp.with { service in
            let model = try await Lamp.connectedModel(of: service)
            let watches = Lamp.channels.map { channel in Watch { _ = model[channel] } }
            let device = try #require(model.device)
            // The handlers are there.
            for channel in Lamp.channels { try service.send(-1, to: channel) }
            try await eventually { Lamp.channels.allSatisfy { model[$0] == -1 } }
            let before = watches.map(\.count)
            Self.holdMainThread(service, device)
            try await eventually { Lamp.channels.allSatisfy { model[$0] == 9999 } }
            #expect(watches.map(\.count) == before.map { $0 + 1 })
        }
    }

    /// Lets ten thousand values of each element arrive while the main thread does not do anything else.
    private static func holdMainThread(_ service: ElementalService, _ device: ElementalDevice) {
        let haveArrived = DispatchSemaphore(value: 0)
        Task.detached {
            defer { haveArrived.signal() }
            for round in 0..<10_000 {
                for channel in Lamp.channels {
                    // Refused while too much waits to be sent.
                    try await eventually { (try? service.send(Double(round), to: channel))?.isEmpty == true }
                }
            }
            try await eventually { Lamp.channels.allSatisfy { device.value(of: $0) == 9999 } }
        }
        haveArrived.wait()
    }

    @Test
    func aBoxThatNobodyEmptiesIsAnnouncedOnce() {
        let inbox = Inbox(DeviceArrivals(), frame: .seconds(1000))
        let count = Locked(0)
        inbox.onArrival { count.withLock { $0 += 1 } }
        for round in 0..<1000 {
            for id in Int8(0)...127 { inbox.put { $0.changed.insert(id) } }
            // Who looks between two notifications does not bring about another one.
            inbox.look { $0.changed.remove(7) }
            inbox.put { $0.refusals[3] = ValueRefusal("\(round)") }
        }
        #expect(count.withLock { $0 } == 1)
        let arrivals = inbox.take { contents in
            defer { contents = DeviceArrivals() }
            return contents
        }
        var ids: [Int8] = []
        arrivals.changed.forEach { ids.append($0) }
        #expect(ids == Array(0...6) + Array(8...127))
        #expect(arrivals.refusals.count == 1 && arrivals.refusals[3]?.message == "999")
        // The next one is told in a thousand seconds.
        inbox.put { $0.changed.insert(1) }
        #expect(count.withLock { $0 } == 1)
    }
}

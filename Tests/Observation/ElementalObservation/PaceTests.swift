import Elemental
import Foundation
import Support
import TestSupport
import Testing

@testable import ElementalObservation

/// How often a model changes while values come fast.
@MainActor
@Suite(.backstop)
struct PaceTests {
    /// Sends each element a value at 120 Hz for a second, on a thread of its own.
    private static func send(by service: ElementalService, to elements: [Element<Double>]) async throws {
        let rounds = 120
        let task = Task.detached {
            let clock = SuspendingClock()
            let start = clock.now
            for round in 1...rounds {
                for element in elements { try service.send(Double(round), to: element) }
                try await Task.sleep(until: start + .seconds(1) * round / 120, clock: clock)
            }
        }
        try await task.value
    }

    @Test
    func tenElementsAt120HzAreSeenOnceAFrame() async throws {
        try await Lamp.with { service in
            let model = try await Lamp.connectedModel(of: service)
            let watches = Lamp.channels.map { channel in Watch { _ = model[channel] } }
            let brightness = Watch { _ = model[Lamp.brightness] }
            let other = Watch { _ = model[Lamp.title] }
            service.relay(Lamp.brightness)
            let start = ContinuousClock.now
            async let sending: Void = Self.send(by: service, to: Lamp.channels)
            // A finger that moves meanwhile: of its values each is seen, and each that is sent has an answer.
            let clock = SuspendingClock()
            for step in 1...100 {
                model[Lamp.brightness] = Float(step) / 100
                try await Task.sleep(for: .milliseconds(5), clock: clock)
            }
            try await sending
            try await eventually { Lamp.channels.allSatisfy { model[$0] == 120 } }
            #expect(brightness.count == 100)
            let frames = Int((ContinuousClock.now - start) / model.pace.frame) + 2
            for watch in watches {
                #expect(watch.count > 0 && watch.count <= frames, "\(watch.count) of \(frames)")
            }
            #expect(other.count == 0)
        }
    }

    @Test
    func thePaceCanBeSet() async throws {
        try await Lamp.with { service in
            var pace = ObservationPace()
            pace.frame = .milliseconds(200)
            let port = try #require(service.port)
            let model = ObservedDevice(host: "127.0.0.1", port: port, as: "Test", elements: Lamp.all, pace: pace)
            try await eventually { model.state.isConnected && service.devices.count == 1 }
            let watch = Watch { _ = model[Lamp.channels[0]] }
            let start = ContinuousClock.now
            try await Self.send(by: service, to: [Lamp.channels[0]])
            try await eventually { model[Lamp.channels[0]] == 120 }
            let frames = Int((ContinuousClock.now - start) / pace.frame) + 2
            #expect(watch.count <= frames, "\(watch.count) of \(frames)")
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
        Thread.detachNewThread {
            for round in 0..<10_000 {
                for channel in Lamp.channels {
                    while (try? service.send(Double(round), to: channel))?.isEmpty != true { usleep(1000) }
                }
            }
        }
        while !Lamp.channels.allSatisfy({ device.value(of: $0) == 9999 }) { usleep(1000) }
    }

    @Test
    func statisticsChangeAtTheirOwnPace() async throws {
        try await Lamp.with { service in
            var pace = ObservationPace()
            pace.statistics = .milliseconds(20)
            let port = try #require(service.port)
            let model = ObservedDevice(host: "127.0.0.1", port: port, as: "Test", elements: Lamp.all, pace: pace)
            // The service has let it in: all that it sends from now on arrives.
            try await eventually { model.state.isConnected && service.devices.count == 1 }
            let watch = Watch { _ = model.statistics }
            let start = ContinuousClock.now
            try await Self.send(by: service, to: [Lamp.channels[0]])
            try await eventually { model.statistics.messagesReceived >= 120 }
            #expect(watch.count > 0 && watch.count <= Int((ContinuousClock.now - start) / pace.statistics) + 1)
            #expect(model.statistics.bytesReceived >= 120 * 13)
        }
    }

    @Test
    func aBoxThatNobodyEmptiesIsAnnouncedOnce() {
        let inbox = Inbox(DeviceArrivals(), frame: .seconds(1000))
        let count = Locked(0)
        inbox.onArrival { count.withLock { $0 += 1 } }
        for round in 0..<1000 {
            for id in Int8(0)...127 { inbox.put { $0.changed.insert(id) } }
            // Who looks between two notifications does not bring about another one.
            _ = inbox.look { $0.changed.remove(7) }
            inbox.put { $0.note(ValueRefusal("\(round)"), of: 3) }
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

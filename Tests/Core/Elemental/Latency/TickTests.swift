import Elemental
import NIOCore
import NIOPosix
import Support
import TestSupport
import Testing

@testable import Elemental

/// Calls at fixed times on a connection's event loop.
struct TickTests {
    private static let latencies: [Latency] = [.standard, .lowest]

    @Test(.backstop, arguments: latencies)
    func callsComeWhenTheyAreDue(_ latency: Latency) async throws {
        try await withService { service, port in
            let device = try await connect(port, latency: latency)
            let calls = Transcript<(due: NIODeadline, now: NIODeadline)>()
            let ticks = device.onTick(every: .milliseconds(1)) { due, _ in calls.add((due: due, now: .now())) }
            try await calls.wait(for: 100)
            ticks.cancel()
            let all = calls.all
            #expect(all.allSatisfy { $0.now >= $0.due })
            for (first, second) in zip(all, all.dropFirst()) {
                // Several only if the loop could not make one in time.
                let gap = (second.due - first.due).nanoseconds
                #expect(gap > 0 && gap.isMultiple(of: 1_000_000))
            }
            await device.close()
        }
    }

    /// A connected client with an event loop of its own, which a test may block.
    private func withOwnLoop(
        _ latency: Latency, _ body: (_ service: ElementalService, _ device: ElementalDevice) async throws -> Void
    ) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        try await withService { service, port in
            let device = try await connect(port, latency: latency, on: group)
            try await body(service, device)
            await device.close()
        }
        try await group.shutdownGracefully()
    }

    /// Blocks the event loop, which no handler should do.
    private static func block(for time: TimeAmount) {
        let end = NIODeadline.now() + time
        while NIODeadline.now() < end {}
    }

    @Test(.backstop, arguments: latencies)
    func missedCallsAreLeftOut(_ latency: Latency) async throws {
        try await withOwnLoop(latency) { _, device in
            let dues = Transcript<NIODeadline>()
            device.onTick(every: .milliseconds(1)) { due, _ in
                dues.add(due)
                if dues.count == 3 { Self.block(for: .milliseconds(20)) }
            }
            try await dues.wait(for: 5)
            #expect(dues.all[3] - dues.all[2] >= .milliseconds(20))
        }
    }

    /// With a gap of zero, as on a machine that needs longer to come from one timer to the next.
    @Test(.backstop, arguments: latencies, [nil, TimeAmount.zero])
    func callsThatTakeLongerThanTheirPeriodLeaveTimeForValues(_ latency: Latency, _ gap: TimeAmount?) async throws {
        try await withOwnLoop(latency) { service, device in
            let loop = device.eventLoop
            if let gap { try await loop.submit { TickerQueue.current(on: loop).leastGap = gap }.get() }
            service.onValue(of: Lamp.label) { value, device in try? device.send(value, to: Lamp.label) }
            let answers = Transcript<String>()
            device.onValue(of: Lamp.label) { answers.add($0) }
            // One whose period is shorter than its call, and more that are late because of each other.
            let calls = Transcript<Void>()
            for _ in 0..<3 {
                device.onTick(every: .microseconds(500)) { _, _ in
                    calls.add(())
                    Self.block(for: .milliseconds(1))
                }
            }
            for number in 0..<10 {
                try device.send("\(number)", to: Lamp.label)
                try await answers.wait(for: number + 1)
            }
            #expect(answers.all == (0..<10).map { "\($0)" })
            // Values do not keep the calls waiting either.
            try await calls.wait(for: 30)
        }
    }

    /// An object that a call retains. It tells when it is released.
    private final class Token: Sendable {
        private let name: String
        private let released: Transcript<String>

        init(_ name: String, _ released: Transcript<String>) { (self.name, self.released) = (name, released) }

        deinit { released.add(name) }
    }

    @Test(.backstop, arguments: latencies)
    func noCallFollowsTheEndOfItsRegistration(_ latency: Latency) async throws {
        try await withService { service, port in
            let device = try await connect(port, latency: latency)
            let released = Transcript<String>()
            @Sendable func tick(_ name: String, _ action: @escaping @Sendable () -> Void) -> HandlerRegistration {
                let token = Token(name, released)
                return device.onTick(every: .milliseconds(1)) { _, _ in withExtendedLifetime(token, action) }
            }
            let registration = Locked<HandlerRegistration?>(nil)
            let (own, other, never) = (Transcript<Void>(), Transcript<Void>(), Transcript<Void>())
            try await device.eventLoop.submit {
                let ticks = tick("own") {
                    own.add(())
                    if own.count == 3 { registration.withLock { $0 }?.cancel() }
                }
                registration.withLock { $0 = ticks }
                tick("never") { never.add(()) }.cancel()
            }.get()
            let others = tick("other") { other.add(()) }
            try await other.wait(for: 20)
            others.cancel()
            // On the loop it is over by now, whatever another thread did before.
            let count = try await device.eventLoop.submit { other.count }.get()
            let later = Transcript<Void>()
            _ = tick("later") { later.add(()) }
            try await later.wait(for: 20)
            #expect(own.count == 3)
            #expect(other.count == count)
            #expect(never.count == 0)
            #expect(Set(released.all) == ["own", "never", "other"])
            // The last one ends with the device.
            await device.close()
            try await released.next("the release of the last call") { $0 == "later" }
            let last = later.count
            let another = try await connect(port, as: "another", latency: latency)
            let calls = Transcript<Void>()
            another.onTick(every: .milliseconds(1)) { _, _ in calls.add(()) }
            try await calls.wait(for: 20)
            #expect(later.count == last)
            await another.close()
        }
    }

    @Test(arguments: ConnectionKind.allCases)
    func whatIsSentIsWrittenWhenTheCallReturns(over kind: ConnectionKind) async throws {
        try await withPair(over: kind) { service, device in
            let received = Transcript<String>()
            service.onValue(of: Lamp.label) { value, _ in received.add(value) }
            let isUnsent = try await device.eventLoop.submit {
                let connection = try #require(device.outbound.withLock { $0.link })
                connection.handler.value.batch {
                    for number in 0..<10 { try? device.send("\(number)", to: Lamp.label) }
                }
                return device.outbound.withLock { $0.isStreamUnsent }
            }.get()
            #expect(!isUnsent)
            try await received.wait(for: 10)
            #expect(received.all == (0..<10).map { "\($0)" })
        }
    }

    @Test(.backstop)
    func itIsCalledWhileTheDeviceReconnects() async throws {
        let service = try await Reconnecting.service()
        let device = try await Reconnecting.connect(service, Reconnecting.soon)
        let states = Transcript<Bool>()
        device.onTick(every: .milliseconds(1)) { _, device in states.add(device.isConnected) }
        try await eventually { states.all.contains(true) }
        await service.stop()
        try await eventually { states.all.last == false }
        let count = states.all.count
        try await states.wait(for: count + 10)
        await device.close()
    }

    // MARK: The loop

    @Test(.enabled(if: System.coreCount > 1), .backstop)
    func aLoopThatCanDoWithoutSleepIsAwakeForACall() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        let sleepless = try await loop.submit {
            let sleepless = try #require(SleeplessLoop.retain(on: loop))
            // Other tests that want the core do not make it sleep.
            sleepless.share = nil
            return NIOLoopBound(sleepless, eventLoop: loop)
        }.get()
        let wereAwake = Transcript<Bool>()
        let ticker = try await loop.submit {
            let ticker = Ticker(on: loop, every: .milliseconds(2)) { _ in wereAwake.add(sleepless.value.isAwake) }
            ticker.start()
            return NIOLoopBound(ticker, eventLoop: loop)
        }.get()
        // The first ones come before there is a pipe, and any may come late: then it was not woken for it.
        try await eventually { wereAwake.all.count(where: \.self) >= 10 }
        // Between the calls it sleeps.
        try await eventually { !(try await loop.submit { sleepless.value.isAwake }.get()) }
        // The last connection goes, awake or not, and calls go on.
        try await loop.submit {
            let now = NIODeadline.now()
            sleepless.value.stayAwake(until: now + .seconds(60), now: now)
        }.get()
        try await loop.submit { sleepless.value.release() }.get()
        let count = wereAwake.all.count
        try await wereAwake.wait(for: count + 10)
        try await loop.submit { ticker.value.stop() }.get()
        try await group.shutdownGracefully()
    }
}

import Dispatch
import Foundation
import NIOCore
import NIOPosix
import Support
import TestSupport
import Testing

@testable import Elemental

/// Event loops that do not sleep between the parts of a fast flow.
struct BulkFlowTests {
    @Test
    func onlyMuchAtATimeAndFastIsSuchAFlow() {
        var flow = BulkFlow()
        func batch(_ sizes: [Int], at microseconds: Int) -> NIODeadline? {
            for size in sizes { flow.noteRead(size) }
            return flow.endBatch { deadline(microseconds) }
        }
        #expect(batch([65_536], at: 0) == nil)
        #expect(batch([65_536], at: 100) == deadline(100))
        #expect(batch([20_000, 20_000], at: 150) == deadline(150))
        // Little does not count, nor does it end the flow.
        #expect(batch([20_000], at: 160) == nil)
        #expect(batch([20_000], at: 170) == nil)
        #expect(batch([65_536], at: 200) == deadline(200))
        // A link of 1 Gbit/s is slower.
        for number in 1..<10 { #expect(batch([65_536], at: 200 + number * 520) == nil) }
    }

    @Test(.enabled(if: System.coreCount > 1), .backstop, arguments: ConnectionKind.allCases)
    func theLoopStaysAwakeDuringAFlowAndSleepsAfterIt(kind: ConnectionKind) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        try await withService(over: kind) {
            $0.eventLoopGroup = group
        } _: { service, port in
            let last = Locked<Data?>(nil)
            service.onValue(of: Lamp.blob) { value, _ in last.withLock { $0 = value } }
            let device = try await connect(port, over: kind)
            let blob = Data(repeating: 7, count: 65_536)
            func look() async throws -> (turnCount: Int, isAwake: Bool)? {
                try await group.next().submit { SleeplessLoop.current.map { ($0.turnCount, $0.isAwake) } }.get()
            }
            #expect(try await look() == nil)
            // How fast it is on this machine is decided by what else it does.
            try await eventually("a loop that is awake") {
                for _ in 0..<50 { try await device.sendWhenReady(blob, to: Lamp.blob) }
                return try await look().map { $0.turnCount > 0 } ?? false
            }
            try await device.sendWhenReady(Data([1]), to: Lamp.blob)
            try await eventually("the last value") { last.withLock { $0 == Data([1]) } }
            try await eventually("a loop that sleeps") { try await look()?.isAwake == false }
            await device.close()
            try await eventually("no pipe") { try await look() == nil }
        }
        try await group.shutdownGracefully()
    }

    /// A flow's rest lasts up to 10 s, and says nothing of a connection for which the core would be left.
    @Test(.enabled(if: System.coreCount > 1), .backstop)
    func aRestFromFlowsIsNoneFromLatency() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        func isAwake() async throws -> Bool {
            try await loop.submit {
                let sleepless = try #require(SleeplessLoop.current)
                let now = NIODeadline.now()
                sleepless.stayAwake(until: now + .milliseconds(20), now: now)
                return sleepless.isAwake
            }.get()
        }
        try await loop.submit { _ = try #require(SleeplessLoop.retain(on: loop, for: .throughput)) }.get()
        try await eventually("the pipe") { try await isAwake() }
        try await loop.submit { SleeplessLoop.current?.rest(until: .now() + .hours(1)) }.get()
        try await eventually("a loop that sleeps") { !(try await isAwake()) }
        try await loop.submit { _ = try #require(SleeplessLoop.retain(on: loop, for: .latency)) }.get()
        #expect(try await isAwake())
        try await loop.submit {
            SleeplessLoop.current?.release(from: .latency)
            SleeplessLoop.current?.release(from: .throughput)
        }.get()
        try await group.shutdownGracefully()
    }

    /// The loop gets nearly all of the core, but what arrives while the other thread has it waits.
    @Test(.enabled(if: System.coreCount > 1), .backstop)
    func itLeavesItsCoreToAThreadThatWantsItForMoments() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        let thread = try await loop.submit {
            _ = try #require(SleeplessLoop.retain(on: loop, for: .throughput))
            return Self.currentThread
        }.get()
        let other = Locked<(thread: String?, isOver: Bool)>((nil, false))
        let isWanted = DispatchSemaphore(value: 0)
        let waking = loop.scheduleRepeatedTask(initialDelay: .zero, delay: .microseconds(300)) { _ in
            isWanted.signal()
        }
        defer {
            waking.cancel()
            other.withLock { $0.isOver = true }
            isWanted.signal()
        }
        Thread.detachNewThread {
            other.withLock { $0.thread = Self.currentThread }
            while !other.withLock({ $0.isOver }) {
                isWanted.wait()
                let end = NIODeadline.now() + .microseconds(40)
                while NIODeadline.now() < end {}
            }
        }
        try await eventually("the other thread") { other.withLock { $0.thread != nil } }
        for thread in try [thread, #require(other.withLock { $0.thread })] {
            try await ChildProcess.run("taskset", ["--cpu-list", "--pid", Self.firstCore, thread])
        }
        try await eventually("a loop that sleeps, though more is to come") {
            try await loop.submit {
                let sleepless = try #require(SleeplessLoop.current)
                let now = NIODeadline.now()
                let wasAwake = sleepless.turnCount > 0
                sleepless.stayAwake(until: now + .milliseconds(100), now: now)
                return wasAwake && !sleepless.isAwake
            }.get()
        }
        try await loop.submit { SleeplessLoop.current?.release(from: .throughput) }.get()
        try await group.shutdownGracefully()
    }

    /// The number of a core on which this process may run.
    private static var firstCore: String {
        get throws {
            let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
            return String(try #require(status.firstMatch(of: /Cpus_allowed_list:\s*(\d+)/)).1)
        }
    }

    /// The system's number of the calling thread.
    private static var currentThread: String {
        // It is a link to 1234/task/1240.
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self"))?.split(separator: "/").last
            .map(String.init) ?? ""
    }
}

import NIOCore
import NIOPosix
import Support
import TestSupport
import Testing

@testable import Elemental

/// Tasks that run on a connection's event loop.
struct LoopExecutorTests {
    @Test
    func aStreamIsConsumedOnTheEventLoopWhereATaskAsksForIt() async throws {
        try await withPair { service, device in
            let echoes = Transcript<UInt64>()
            device.onValue(of: Lamp.count) { echoes.add($0) }
            let other = try #require(service.devices.first)
            let values = other.values(of: Lamp.count)
            let consumer = Task(executorPreference: other.executor) {
                var isOnLoop = true
                for await value in values {
                    isOnLoop = isOnLoop && other.eventLoop.inEventLoop
                    try await other.sendWhenReady(value, to: Lamp.count)
                    if value == 99 { break }
                }
                return isOnLoop
            }
            for value in 0..<100 {
                try await eventually { (try? device.send(UInt64(value), to: Lamp.count)) != nil }
                try await echoes.wait(for: value + 1)
            }
            #expect(try await consumer.value)
            #expect(echoes.all == Array(0..<100))
        }
    }

    /// Outside a read, and from other threads, a task is queued on the loop like anything else.
    @Test
    func aTaskRunsAlsoWhenNothingIsRead() async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let executor = try await loop.submit { LoopExecutor(on: loop) }.get()
        let ran = await Task(executorPreference: executor) {
            await Task.yield()
            return loop.inEventLoop
        }.value
        #expect(ran)
    }

    /// Tasks that make each other ready do not keep the loop from ending its read.
    @Test
    func ofATaskThatYieldsAgainAndAgainTheEndOfAReadRunsALimitedPart() async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let executor = try await loop.submit { LoopExecutor(on: loop) }.get()
        let total = 10_000
        let count = Locked(0)
        let (restless, countAtTheEnd) = try await loop.submit {
            executor.beginBatch()
            let task = Task(executorPreference: executor) {
                for _ in 0..<total {
                    count.withLock { $0 += 1 }
                    await Task.yield()
                }
            }
            executor.endBatch()
            return (task, count.withLock { $0 })
        }.get()
        #expect((1...1024).contains(countAtTheEnd))
        await restless.value
        #expect(count.withLock { $0 } == total)
    }
}

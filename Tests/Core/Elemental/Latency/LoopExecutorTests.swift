import NIOCore
import NIOPosix
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
}

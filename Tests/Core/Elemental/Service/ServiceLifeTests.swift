import Dispatch
import Foundation
import NIOPosix
import ServiceLifecycleTestKit
import TestSupport
import Testing

@testable import Elemental

/// A service that several tasks start, stop and set values of concurrently.
struct ServiceLifeTests {
    @Test(.backstop)
    func aServiceThatIsStoppedWhileItStartsDoesNotRun() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        var configuration = ServiceConfiguration()
        configuration.address = "127.0.0.1"
        configuration.isPublished = false
        configuration.eventLoopGroup = group
        let service = ElementalService("test", elements: Lamp.all, configuration: configuration)
        // The start cannot finish before the loop continues.
        let goOn = DispatchSemaphore(value: 0)
        group.next().execute { goOn.wait() }
        async let start: Void = service.start()
        try await eventually("it starts") {
            if case .starting = service.state.withLock({ $0.phase }) { true } else { false }
        }
        async let stop: Void = service.stop()
        try await eventually("it is to stop") {
            if case .stopping = service.state.withLock({ $0.phase }) { true } else { false }
        }
        goOn.signal()
        await stop
        #expect(service.port == nil)
        do {
            try await start
            Issue.record("it has started")
        } catch let error as ElementalError {
            #expect(error.code == .cancelled)
        }
        // It can be started again.
        try await service.start()
        #expect(service.port != nil)
        await service.stop()
        try await group.shutdownGracefully()
    }

    @Test(.backstop)
    func aServiceGroupShutsItDownGracefully() async throws {
        var configuration = ServiceConfiguration()
        configuration.address = "127.0.0.1"
        configuration.isPublished = false
        let service = ElementalService("test", elements: Lamp.all, configuration: configuration)
        try await testGracefulShutdown { group in
            async let running: Void = service.run()
            try await eventually("it runs") { service.port != nil }
            group.triggerGracefulShutdown()
            try await running
        }
        #expect(service.port == nil)
    }

    @Test("every event is told on the service's event loop, until the handler is cancelled", .backstop)
    func eventsOnTheLoop() async throws {
        let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
        var configuration = ServiceConfiguration()
        configuration.address = "127.0.0.1"
        configuration.eventLoopGroup = eventLoop
        // The client does not close its side.
        configuration.limits.closeTimeout = .milliseconds(50)
        let service = ElementalService("test", elements: Lamp.all, configuration: configuration)
        let (lifetime, publication) = (Transcript<String>(), Transcript<String>())
        let registration = service.onEvent { event in
            let text = "\(event)"
            let word = text.prefix { $0.isLetter } + (eventLoop.inEventLoop ? "" : " on another thread")
            // With no daemon it fails, again and again.
            if text.contains("published") { publication.add("\(word)") } else { lifetime.add("\(word)") }
        }
        try await service.start()
        #expect(lifetime.all == ["listening"])
        try await publication.wait(for: 1)
        let client = try RawSocket.connect(to: try #require(service.port))
        try client.write([0xfe, 1, 0, 0, 0, 0x68])
        try await lifetime.wait(for: 2)
        await service.stop()
        #expect(lifetime.all == ["listening", "connected", "disconnected", "stopped"])
        #expect(publication.all.allSatisfy { ["published", "not"].contains($0) })
        registration.cancel()
        try await service.start()
        await service.stop()
        #expect(lifetime.all.count == 4)
        withExtendedLifetime(client) {}
    }

    @Test(.backstop)
    func everyStopReturnsAfterTheStop() async throws {
        try await withService(Lamp.all, { $0.limits.closeTimeout = Patience.wait * 10 }) { service, port in
            @Sendable func isStopping() -> Bool {
                if case .stopping = service.state.withLock({ $0.phase }) { true } else { false }
            }
            let client = try RawSocket.connect(to: port)
            _ = try await client.readFrame()
            // Stopping lasts until the client closes its side.
            async let run: Void = service.stop()
            try await eventually("it is being stopped") { isStopping() }
            let later = [false, true].map { isCancelled in
                let task = Task {
                    await service.stop()
                    return isStopping()
                }
                if isCancelled { task.cancel() }
                return task
            }
            _ = try await client.readToEnd()
            client.closeOutput()
            for stop in later { #expect(await !stop.value) }
            try await service.start()
            #expect(service.port != nil)
            await run
        }
    }

    /// If devices got values in another order than their service, they would end with another value.
    @Test
    func valuesThatAreSetAtTheSameTimeComeInOneOrder() async throws {
        try await withService { service, port in
            let count = 5000
            let received = [Transcript<String>(), Transcript<String>()]
            for (number, gathered) in received.enumerated() {
                _ = try await connect(port, as: "tester \(number)") { device in
                    device.onValue(of: Lamp.label) { gathered.add($0) }
                }
            }
            try await eventually { service.devices.count == 2 }
            for thread in ["a", "b"] {
                Thread.detachNewThread {
                    for number in 0..<count { _ = try? service.send("\(thread)\(number)", to: Lamp.label) }
                }
            }
            for gathered in received { try await gathered.wait(for: 2 * count) }
            #expect(received[0].all == received[1].all)
            #expect(received[0].all.last == service.value(of: Lamp.label))
        }
    }
}

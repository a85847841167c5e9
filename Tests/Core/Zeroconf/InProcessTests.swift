import Foundation
import TestSupport
import Testing
import Zeroconf

/// In the test's own process, as a program would use the module.
///
/// The D-Bus address is read once per process, so it has to come with the test run:
/// `Samples/private-avahi -- swift test`. Without it these tests would use the machine's own daemon and network.
@Suite(
    .serialized,
    .enabled(
        if: ProcessInfo.processInfo.environment["DBUS_SYSTEM_BUS_ADDRESS"] != nil,
        "no private avahi-daemon: run the tests with Samples/private-avahi -- swift test"))
struct InProcessTests {
    @Test func aServiceIsPublishedFoundChangedAndGone() async throws {
        let type = try ServiceType.tcp("inprocess")
        let browser = ServiceBrowser(type: type)
        let events = Watch(browser.events())
        let publisher = try ServicePublisher(name: "Rover", type: type, port: 7000, txt: ["state": "off"])
        let publications = Watch(publisher.events())
        publisher.start()
        publisher.start()
        let name = try await publications.next { if case .published(let name) = $0 { name } else { nil } }
        #expect(name == "Rover")
        let found = try await events.next { if case .found(let service) = $0 { service } else { nil } }
        #expect(found.instance == ServiceInstance(name: "Rover", type: type))
        #expect(found.port == 7000 && found.txt["STATE"] == "off" && found.host.hasSuffix(".local."))
        #expect(found.addresses.contains { $0.presentation == "127.0.0.1" && $0.interfaceIndex == 1 })
        try publisher.update(txt: ["state": "on"])
        let updated = try await events.next {
            if case .updated(let service) = $0, service.txt == ["state": "on"] { service } else { nil }
        }

        // A late subscriber gets the current state.
        let late = Watch(browser.events())
        #expect(try await late.next { if case .found(let service) = $0 { service } else { nil } } == updated)
        let latePublications = Watch(publisher.events())
        #expect(try await latePublications.next { if case .published(let name) = $0 { name } else { nil } } == "Rover")

        let resolved = try await Resolver.resolve(found.instance)
        #expect(resolved == updated)

        await publisher.stop()
        let gone = try await events.next { if case .gone(let instance) = $0 { instance } else { nil } }
        #expect(gone == found.instance)
        try await publications.waitForEnd()
        try await latePublications.waitForEnd()
        await browser.stop()
        try await events.waitForEnd()
        try await late.waitForEnd()
        try await Watch(browser.events()).waitForEnd()
    }

    @Test func aReleasedPublisherWithdrawsItsService() async throws {
        let type = try ServiceType.tcp("released")
        let browser = ServiceBrowser(type: type)
        let events = Watch(browser.events())
        var publisher: ServicePublisher? = try ServicePublisher(name: "Rover", type: type, port: 7000)
        publisher?.start()
        _ = try await events.next { if case .found(let service) = $0 { service } else { nil } }
        publisher = nil
        _ = try await events.next { if case .gone(let instance) = $0 { instance } else { nil } }
        await browser.stop()
    }

    @Test func aBrowserWorksAsLongAsItsStreamIsHeld() async throws {
        let type = try ServiceType.tcp("held")
        let publisher = try ServicePublisher(name: "Rover", type: type, port: 7000)
        publisher.start()
        // The browser itself is gone after this line.
        let events = Watch(ServiceBrowser(type: type).events())
        _ = try await events.next { if case .found(let service) = $0 { service } else { nil } }
        await publisher.stop()
        _ = try await events.next { if case .gone(let instance) = $0 { instance } else { nil } }
    }

    @Test func aBrowserCanBeListenedToAgain() async throws {
        let type = try ServiceType.tcp("again")
        let publisher = try ServicePublisher(name: "Rover", type: type, port: 7000)
        publisher.start()
        let browser = ServiceBrowser(type: type)
        for _ in 0..<3 {
            let events = Watch(browser.events())
            _ = try await events.next { if case .found(let service) = $0 { service } else { nil } }
        }
        await browser.stop()
        await publisher.stop()
    }

    /// It may have opened its references by then, or not.
    @Test(arguments: [0, 1, 10, 100, 1000]) func aCancelledResolverReturnsAtOnce(after yields: Int) async throws {
        let instance = ServiceInstance(name: "Nobody", type: try .tcp("nobody"))
        let task = Task {
            do {
                _ = try await Resolver.resolve(instance, timeout: Patience.wait * 10)
                return ZeroconfError.Code.system
            } catch {
                return (error as? ZeroconfError)?.code ?? .system
            }
        }
        for _ in 0..<yields { await Task.yield() }
        task.cancel()
        // Not `.timedOut`, which would come after minutes.
        #expect(await task.value == .cancelled)
    }
}

/// The events of a stream, which is held until this is released.
private final class Watch<Event: Sendable>: Sendable {
    private let events = Transcript<Event>()
    private let reading: Task<Void, Never>

    init(_ stream: AsyncStream<Event>) {
        reading = Task { [events] in
            for await event in stream { events.add(event) }
            events.end()
        }
    }

    deinit { reading.cancel() }

    func next<Value: Sendable>(_ pick: @escaping @Sendable (Event) -> Value?) async throws -> Value {
        let event = try await events.next { pick($0) != nil }
        return try #require(pick(event))
    }

    /// Waits for the stream's end, after whatever events are in it.
    func waitForEnd() async throws { try await eventually("the end of the stream") { events.isAtEnd } }
}

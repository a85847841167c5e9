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
        let events = Watch(browser.events)
        let publisher = try ServicePublisher(name: "Rover", type: type, port: 7000, txt: ["state": "off"])
        let publications = Watch(publisher.events)
        publisher.start()
        publisher.start()
        let name = try await publications.next { if case .published(let name) = $0 { name } else { nil } }
        #expect(name == "Rover")
        let found = try await events.next { if case .found(let service) = $0 { service } else { nil } }
        #expect(found.instance == ServiceInstance(name: "Rover", type: type))
        #expect(found.port == 7000 && found.txt["STATE"] == "off" && found.host.hasSuffix(".local."))
        #expect(found.addresses.contains { $0.presentation == "127.0.0.1" && $0.interfaceIndex == 1 })
        try publisher.update(txt: ["state": "on"])
        let updated = try await events.next { if case .updated(let service) = $0 { service } else { nil } }
        #expect(updated.txt == ["state": "on"])

        // A late subscriber gets the current state.
        let late = Watch(browser.events)
        #expect(try await late.next { if case .found(let service) = $0 { service } else { nil } } == updated)
        let latePublications = Watch(publisher.events)
        #expect(try await latePublications.next { if case .published(let name) = $0 { name } else { nil } } == "Rover")

        let resolved = try await Resolver.resolve(found.instance)
        #expect(resolved == updated)

        await publisher.stop()
        let gone = try await events.next { if case .gone(let instance) = $0 { instance } else { nil } }
        #expect(gone == found.instance)
        #expect(await publications.isAtEnd())
        #expect(await latePublications.isAtEnd())
        await browser.stop()
        #expect(await events.isAtEnd())
        #expect(await late.isAtEnd())
        #expect(await Watch(browser.events).isAtEnd())
    }

    @Test func aReleasedPublisherWithdrawsItsService() async throws {
        let type = try ServiceType.tcp("released")
        let browser = ServiceBrowser(type: type)
        let events = Watch(browser.events)
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
        let events = Watch(ServiceBrowser(type: type).events)
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
            let events = Watch(browser.events)
            _ = try await events.next { if case .found(let service) = $0 { service } else { nil } }
        }
        await browser.stop()
        await publisher.stop()
    }

    @Test func aCancelledResolverReturnsAtOnce() async throws {
        let instance = ServiceInstance(name: "Nobody", type: try .tcp("nobody"))
        let task = Task {
            do {
                _ = try await Resolver.resolve(instance, timeout: .seconds(60))
                return ZeroconfError.Code.system
            } catch {
                return (error as? ZeroconfError)?.code ?? .system
            }
        }
        try await Task.sleep(for: .milliseconds(200), clock: .suspending)
        task.cancel()
        // Not `.timedOut`, which would come after a minute.
        #expect(await task.value == .cancelled)
    }

    @Test func aTXTRecordThatIsTooLargeIsRefusedAndTheOldOneStays() async throws {
        let publisher = try ServicePublisher(name: "Rover", type: .tcp("toolarge"), port: 7000, txt: ["a": "1"])
        #expect(throws: ZeroconfError.self) {
            try publisher.update(txt: ["a": String(repeating: "x", count: 300)])
        }
        await publisher.stop()
    }
}

/// Reads a stream's events until one matches, and fails after a time limit.
private struct Watch<Event: Sendable> {
    private let lines: AsyncStream<Event>

    init(_ stream: AsyncStream<Event>) {
        lines = stream
    }

    func next<Value: Sendable>(_ pick: @escaping @Sendable (Event) -> Value?) async throws -> Value {
        try #require(await first(pick) ?? nil, "the event did not come")
    }

    /// Whether the stream ends, after whatever events wait in it.
    func isAtEnd() async -> Bool {
        let event = await first { _ -> Event? in nil }
        if case .some(.none) = event { return true }
        return false
    }

    /// What was picked; `.some(nil)` if the stream ended before, nil if the time did.
    private func first<Value: Sendable>(_ pick: @escaping @Sendable (Event) -> Value?) async -> Value?? {
        let lines = lines
        return await withTaskGroup(of: Value??.self) { group in
            group.addTask {
                for await event in lines {
                    if let value = pick(event) { return .some(.some(value)) }
                }
                return .some(.none)
            }
            group.addTask {
                try? await Task.sleep(for: .seconds(30), clock: .suspending)
                return nil
            }
            let value = await group.next() ?? nil
            group.cancelAll()
            return value
        }
    }
}

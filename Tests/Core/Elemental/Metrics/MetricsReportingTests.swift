import CoreMetrics
import Elemental
import ElementalWire
import Support
import TestSupport
import Testing

@testable import Elemental

/// The statistics of devices in a program's own backend for metrics.
struct MetricsReportingTests {
    private let backend = MemoryBackend()
    private static let client = ["service": "", "role": "client"]
    private static let service = ["service": "test", "device": "Test", "role": "service"]

    @Test
    func bothEndsReportTheirTraffic() async throws {
        try await withMetricsFactory(backend) {
            try await withPair { service, device in
                let arrived = Transcript<Float>()
                service.onValue(of: Lamp.brightness) { value, _ in arrived.add(value) }
                for _ in 0..<5 { try device.send(0.5, to: Lamp.brightness) }
                try await arrived.wait(for: 5)
                try await device.ping()
                try await eventually("the service's counter, of \(backend.all)") {
                    backend.counter("elemental_messages_received_total", Self.service) >= 5
                }
                try await eventually("the client's counter, of \(backend.all)") {
                    backend.counter("elemental_messages_sent_total", Self.client) >= 5
                }
                try await eventually("the connections") {
                    backend.gauge("elemental_connections", Self.service) == 1
                        && backend.gauge("elemental_connections", Self.client) == 1
                }
                try await eventually("the round trip") {
                    backend.times("elemental_round_trip_seconds", Self.client).count == 1
                }
                let time = try #require(backend.times("elemental_round_trip_seconds", Self.client).first)
                #expect(time == device.statistics.roundTripTime?.nanoseconds)
            }
            try await eventually("no connections") {
                backend.gauge("elemental_connections", Self.service) == 0
                    && backend.gauge("elemental_connections", Self.client) == 0
            }
        }
    }

    @Test
    func whatWasCountedBeforeTheEndIsReportedOnce() async throws {
        try await withMetricsFactory(backend) {
            try await withService { service, port in
                let device = try await connect(port)
                for _ in 0..<100 { try device.send(0.5, to: Lamp.brightness) }
                await device.close()
                let sent = device.statistics
                #expect(sent.messagesSent == 100)
                try await eventually("the final count, of \(backend.all)") {
                    backend.counter("elemental_messages_sent_total", Self.client) == 100
                }
                // The counters go on, and what was reported before the end is not reported again.
                try await device.reconnect()
                for _ in 0..<10 { try device.send(0.5, to: Lamp.brightness) }
                await device.close()
                let all = device.statistics
                try await eventually("both connections, of \(backend.all)") {
                    backend.counter("elemental_messages_sent_total", Self.client) == 110
                        && backend.counter("elemental_bytes_sent_total", Self.client) == all.bytesSent
                        && backend.counter("elemental_bytes_received_total", Self.client) == all.bytesReceived
                        && backend.counter("elemental_reconnections_total", Self.client) == 1
                }
            }
        }
    }

    @Test
    func clientsOfAServiceShareItsMetrics() async throws {
        try await withMetricsFactory(backend) {
            try await withService { service, port in
                for number in 0..<5 {
                    let device = try await connect(port, as: "client \(number)")
                    try device.send(0.5, to: Lamp.brightness)
                    await device.close()
                }
                try await eventually("the sum, of \(backend.all)") {
                    backend.counter("elemental_messages_received_total", Self.service) == 5
                }
            }
        }
        #expect(!backend.all.contains { $0.contains("client 3") })
        // Thirteen counters, a gauge and a timer for either end.
        #expect(backend.all.count <= 30, "\(backend.all)")
    }

    @Test
    func theTaskEndsWithTheLastDevice() async throws {
        let reporter = MetricsReporter()
        try await withPair { _, device in
            reporter.begin(device, for: account("Test"))
            #expect(!reporter.isIdle)
            reporter.end(device)
        }
        try await eventually("the end") { reporter.isIdle }
    }

    @Test
    func accountsOfDifferentBackendsAreDifferent() {
        #expect(account("a") == account("a"))
        #expect(account("a") != account("b"))
        #expect(account("a") != MetricsAccount(MemoryBackend(), service: "passing", device: "a", role: "client"))
    }

    private func account(_ device: String) -> MetricsAccount {
        MetricsAccount(backend, service: "passing", device: device, role: "client")
    }

    /// In a process of its own, because a program has one backend for good.
    @Test
    func theProgramsBackendIsReportedTo() async {
        await #expect(processExitsWith: .success) {
            let backend = MemoryBackend()
            MetricsSystem.bootstrap(backend)
            try await withPair { service, device in
                try device.send(0.5, to: Lamp.brightness)
                try await eventually("both ends, of \(backend.all)") {
                    backend.counter("elemental_messages_sent_total", Self.client) == 1
                        && backend.counter("elemental_messages_received_total", Self.service) == 1
                }
            }
        }
    }

    @Test
    func withoutABackendThereIsNoAccount() async throws {
        try await withPair { service, device in
            #expect(device.metrics == nil)
            try await eventually("a device") { service.devices.first != nil }
            #expect(service.devices.first?.metrics == nil)
        }
    }

    @Test
    func accountsWithoutDevicesAreForgottenInTheEnd() async throws {
        let reporter = MetricsReporter()
        try await withPair { _, device in
            for number in 0..<MetricsReporter.maximumIdleCount + 10 {
                reporter.begin(device, for: account("\(number)"))
                reporter.end(device)
            }
            try await eventually("the end") { reporter.isIdle }
        }
        #expect(backend.count(of: "elemental_messages_sent_total") == MetricsReporter.maximumIdleCount)
        #expect(backend.count(of: "elemental_connections") == MetricsReporter.maximumIdleCount)
        #expect(backend.count(of: "elemental_round_trip_seconds") == MetricsReporter.maximumIdleCount)
    }
}

/// A backend that keeps what it is told.
private final class MemoryBackend: MetricsFactory {
    private struct Name: Hashable, CustomStringConvertible {
        let label: String
        let dimensions: [String: String]

        var description: String { "\(label) \(dimensions.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" })" }
    }

    /// One metric of any kind.
    private final class Handler: CounterHandler, RecorderHandler, TimerHandler {
        let name: Name
        private let values = Locked<[Int64]>([])

        init(_ name: Name) { self.name = name }

        var all: [Int64] { values.withLock { $0 } }

        func increment(by amount: Int64) { values.withLock { $0.append(amount) } }
        func reset() { values.withLock { $0 = [] } }
        func record(_ value: Int64) { values.withLock { $0.append(value) } }
        func record(_ value: Double) { record(Int64(value)) }
        func recordNanoseconds(_ duration: Int64) { record(duration) }
    }

    private let handlers = Locked<[Name: Handler]>([:])

    var all: [String] { handlers.withLock { $0.values.map { "\($0.name): \($0.all)" } }.sorted() }

    func count(of label: String) -> Int { handlers.withLock { $0.keys.count { $0.label == label } } }

    /// The sum of the counters with that label and at least those dimensions.
    func counter(_ label: String, _ dimensions: [String: String]) -> Int {
        find(label, dimensions).reduce(0) { $0 + Int($1.all.reduce(0, +)) }
    }

    func gauge(_ label: String, _ dimensions: [String: String]) -> Int64? { find(label, dimensions).first?.all.last }

    func times(_ label: String, _ dimensions: [String: String]) -> [Int64] { find(label, dimensions).flatMap(\.all) }

    private func find(_ label: String, _ dimensions: [String: String]) -> [Handler] {
        handlers.withLock { handlers in
            handlers.values.filter { handler in
                handler.name.label == label && dimensions.allSatisfy { handler.name.dimensions[$0.key] == $0.value }
            }
        }
    }

    private func handler(_ label: String, _ dimensions: [(String, String)]) -> Handler {
        let name = Name(label: label, dimensions: Dictionary(dimensions) { $1 })
        return handlers.withLock { handlers in
            if let known = handlers[name] { return known }
            let new = Handler(name)
            handlers[name] = new
            return new
        }
    }

    private func destroy(_ handler: AnyObject) {
        guard let handler = handler as? Handler else { return }
        handlers.withLock { $0[handler.name] = nil }
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        handler(label, dimensions)
    }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        handler(label, dimensions)
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler { handler(label, dimensions) }

    func destroyCounter(_ handler: any CounterHandler) { destroy(handler) }
    func destroyRecorder(_ handler: any RecorderHandler) { destroy(handler) }
    func destroyTimer(_ handler: any TimerHandler) { destroy(handler) }
}

import Bridging
import Elemental
import ElementalWire
import Support
import TestSupport
import Testing

@testable import ServiceMetrics

/// What metrics tell of the services that sessions follow.
struct ServiceMetricsTests {
    private static let speed = Element<Float>(1, "Speed", unit: "m/s")
    private static let note = Element<String>(2, "Note")
    private static let aim = Element<Vector2>(3, "Aim")
    private static let elements: ElementCatalogue = [speed, note, aim]
    private static let rover = ServiceKey(service: "robot", name: "Rover")

    private let time = Locked(1000.0)
    private let metrics: ServiceMetrics

    init() {
        metrics = ServiceMetrics { [time] in time.withLock { $0 } }
    }

    private var lines: [String] { String(decoding: metrics.text(), as: UTF8.self).components(separatedBy: "\n") }

    private func value(_ series: String) -> String? {
        lines.first { $0.hasPrefix(series + " ") }.map { String($0.dropFirst(series.count + 1)) }
    }

    /// Runs a service, and a device that is connected to it.
    private func withDevice(_ body: (ElementalDevice, ElementalService) async throws -> Void) async throws {
        let service = try await startService(Self.elements)
        let device = try await service.connect()
        try await body(device, service)
        await device.close()
        await service.stop()
    }

    @Test
    func valuesAreToldWithTheirTime() async throws {
        try await withDevice { device, service in
            metrics.note(.place(Self.rover, .address(host: "127.0.0.1", port: try #require(service.port))))
            metrics.note(.state(Self.rover, .connecting))
            #expect(value(#"elemental_up{service="robot",device="Rover"}"#) == "0")
            metrics.note(.state(Self.rover, .connected(device, Self.elements)))
            #expect(value(#"elemental_up{service="robot",device="Rover"}"#) == "1")
            #expect(!lines.contains { $0.hasPrefix("elemental_element") })
            metrics.note(.value(Self.rover, Self.speed.definition, .float(0.1)))
            time.withLock { $0 = 1001.23456 }
            metrics.note(.value(Self.rover, Self.note.definition, .string("hello")))
            metrics.note(.value(Self.rover, Self.aim.definition, .float2([1, -2])))
            #expect(
                lines.filter { $0.hasPrefix("elemental_element") } == [
                    #"elemental_element_value{service="robot",device="Rover",element="Speed",unit="m/s"} 0.1"#,
                    #"elemental_element_value{service="robot",device="Rover",element="Aim",component="x"} 1.0"#,
                    #"elemental_element_value{service="robot",device="Rover",element="Aim",component="y"} -2.0"#,
                    #"elemental_element_updated_timestamp_seconds{service="robot",device="Rover",element="Speed"} 1000.0"#,
                    #"elemental_element_updated_timestamp_seconds{service="robot",device="Rover",element="Note"} 1001.235"#,
                    #"elemental_element_updated_timestamp_seconds{service="robot",device="Rover",element="Aim"} 1001.235"#,
                ])
        }
    }

    @Test
    func whatIsGoneDisappears() async throws {
        try await withDevice { device, _ in
            metrics.note(.state(Self.rover, .connected(device, Self.elements)))
            metrics.note(.value(Self.rover, Self.speed.definition, .float(1)))
            metrics.note(.roundTrip(Self.rover, .milliseconds(1)))
            metrics.note(.state(Self.rover, .away(reason: "networkError", message: "lost", retryIn: nil)))
            // What the value is now is not known, but when it came is.
            #expect(!lines.contains { $0.hasPrefix("elemental_element_value") })
            #expect(lines.contains { $0.hasPrefix("elemental_element_updated") })
            #expect(value(#"elemental_up{service="robot",device="Rover"}"#) == "0")
            #expect(value("elemental_connections") == "0")
            metrics.note(.state(Self.rover, .gone))
            metrics.note(.value(Self.rover, Self.speed.definition, .float(2)))
            metrics.note(.roundTrip(Self.rover, .milliseconds(1)))
            #expect(!lines.contains { $0.contains("Rover") }, "\(lines)")
        }
    }

    @Test
    func countersGoOnWithAnotherDevice() async throws {
        try await withDevice { first, service in
            let sent = #"elemental_messages_sent_total{service="robot",device="Rover"}"#
            let reconnections = #"elemental_reconnections_total{service="robot",device="Rover"}"#
            metrics.note(.state(Self.rover, .connected(first, Self.elements)))
            for _ in 0..<7 { try first.send(1, to: Self.speed) }
            #expect(value(sent) == "7")
            await first.close()
            metrics.note(.state(Self.rover, .away(reason: "networkError", message: "lost", retryIn: nil)))
            #expect(value(sent) == "7")
            let second = try await service.connect()
            metrics.note(.state(Self.rover, .connected(second, Self.elements)))
            #expect(value(sent) == "7")
            try second.send(1, to: Self.speed)
            #expect(value(sent) == "8")
            #expect(value(reconnections) == "1")
            // A new role or catalogue is no new connection.
            metrics.note(.value(Self.rover, Self.speed.definition, .float(3)))
            metrics.note(.state(Self.rover, .connected(second, [Self.speed])))
            #expect(value(reconnections) == "1")
            #expect(value(sent) == "8")
            #expect(lines.contains { $0.hasPrefix("elemental_element_value") && $0.hasSuffix(" 3.0") })
            await second.close()
        }
    }

    @Test
    func elementsThatAreNotInTheCatalogueAnyMoreDisappear() async throws {
        try await withDevice { device, _ in
            metrics.note(.state(Self.rover, .connected(device, Self.elements)))
            metrics.note(.value(Self.rover, Self.aim.definition, .float2([1, 2])))
            metrics.note(.value(Self.rover, Self.speed.definition, .float(1)))
            metrics.note(.state(Self.rover, .connected(device, [Self.speed])))
            metrics.note(.value(Self.rover, Self.aim.definition, .float2([1, 2])))
            #expect(!lines.contains { $0.contains("Aim") })
            #expect(lines.contains { $0.contains("Speed") })
        }
    }

    @Test
    func theOrderIsAlwaysTheSameAndNothingComesTwice() async throws {
        let keys = ["Ä", "b\"", "a", "a\u{0}", "a\u{FFFD}", "c\\"].map { ServiceKey(service: "robot", name: $0) }
        var generator = SeededGenerator(seed: 7)
        for key in keys.shuffled(using: &generator) { metrics.note(.state(key, .connecting)) }
        metrics.note(.state(ServiceKey(service: nil, name: "10.0.0.1:80"), .connecting))
        metrics.note(.state(ServiceKey(service: "arm", name: "z"), .connecting))
        let other = ServiceMetrics { 0 }
        other.note(.state(ServiceKey(service: "arm", name: "z"), .connecting))
        for key in keys.reversed() { other.note(.state(key, .connecting)) }
        other.note(.state(ServiceKey(service: nil, name: "10.0.0.1:80"), .connecting))
        #expect(metrics.text() == other.text())
        let series = lines.filter { !$0.hasPrefix("#") && !$0.isEmpty }.map {
            $0[..<($0.lastIndex(of: " ") ?? $0.endIndex)]
        }
        // "a" with a zero and with its replacement look the same.
        #expect(series.filter { $0.hasPrefix("elemental_up") }.count == keys.count + 1)
        #expect(Set(series.map { Array($0.utf8) }).count == series.count)
        let names = lines.filter { $0.hasPrefix("# TYPE") }
        #expect(Set(names).count == names.count)
        // All samples of a metric follow its type.
        var metric = ""
        for line in lines where !line.isEmpty {
            if line.hasPrefix("# TYPE ") {
                metric = String(line.split(separator: " ")[2])
            } else if !line.hasPrefix("#") {
                #expect(line.hasPrefix(metric))
            }
        }
    }

    @Test
    func thereIsABoundOnServices() {
        for number in 0..<300 { metrics.note(.state(ServiceKey(service: "robot", name: "\(number)"), .connecting)) }
        #expect(lines.count { $0.hasPrefix("elemental_up{") } == ServiceMetrics.maximumServiceCount)
        metrics.note(.state(ServiceKey(service: "robot", name: "0"), .gone))
        metrics.note(.state(ServiceKey(service: "robot", name: "new"), .connecting))
        #expect(lines.contains(#"elemental_up{service="robot",device="new"} 0"#))
    }

    /// What each note costs is measured in Benchmarks; here, that notes do not add up.
    @Test
    func aValueTakesThePlaceOfTheOneBefore() async throws {
        try await withDevice { device, _ in
            let elements = try ElementCatalogue(
                (0..<10).map { try ElementDefinition(id: $0, name: "Element \($0)", type: .double) })
            metrics.note(.state(Self.rover, .connected(device, elements)))
            for round in 1...200 {
                for element in elements { metrics.note(.value(Self.rover, element, .double(Double(round)))) }
            }
            let values = lines.filter { $0.hasPrefix("elemental_element_value{") }
            #expect(values.count == 10 && values.allSatisfy { $0.hasSuffix(" 200.0") }, "\(values)")
        }
    }
}

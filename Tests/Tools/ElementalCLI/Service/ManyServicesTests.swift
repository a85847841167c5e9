import Elemental
import Foundation
import TestSupport
import Testing

/// What 200 services cost a command that follows them, and one that is hostile among them.
struct ManyServicesTests {
    private static let count = 200
    private static let speed = Element<Float>(1, "Speed")

    @Test(
        "there are 8 threads at most on two cores, each service takes two descriptors at most, a hostile one costs itself",
        .backstop)
    func twoHundredAndAHostileOne() async throws {
        var services: [ElementalService] = []
        for number in 0..<Self.count {
            var configuration = ServiceConfiguration()
            (configuration.address, configuration.isPublished) = ("127.0.0.1", false)
            let service = ElementalService("robot", elements: [Self.speed], configuration: configuration)
            try await service.start()
            try service.send(Float(number), to: Self.speed)
            services.append(service)
        }
        let targets = services.compactMap { service in service.port.map { "127.0.0.1:\($0)" } }
        let hostile = try ScriptedService()
        try await withCommand(["metrics", "--json", "--port", "0", hostile.target] + targets) { metrics in
            let peer = try await hostile.accept([.init(id: 0), .init(id: 1, type: 12, name: Array("Picture".utf8))])
            for _ in 0...Self.count { try await metrics.nextEvent("serviceState") { $0["state"] == "connected" } }
            // Names of elements that it does not have, values without end, and then one above the limit.
            for _ in 0..<1000 { try peer.write(PeerCostTests.header(99, 4) + [1, 2, 3, 4]) }
            try peer.write(PeerCostTests.header(1, 5 << 20))
            try await metrics.nextEvent("serviceState") { $0["state"] == "away" }
            let descriptors = try ProcessFigures(of: metrics).descriptors
            // 8 on two cores: the main thread and that of the system's events, one of Swift's pool for each core, two event loops
            // and two for what blocks. One that writes events ends when there are none for some seconds.
            let limit = 6 + ProcessInfo.processInfo.activeProcessorCount
            try await eventually("at most \(limit) threads") {
                try ProcessFigures(of: metrics).threadCount <= limit
            }
            #expect(descriptors <= 2 * Self.count + 40, "\(descriptors) descriptors")
            // The others are followed as before.
            for service in services { try service.send(-1, to: Self.speed) }
            let url: String? = metrics.events("serving").first?["url"]
            let port = try #require(url.flatMap { URLComponents(string: $0)?.port })
            try await eventually {
                let text = try await MetricsTests().get(port).text
                return text.split(separator: "\n").count { $0.hasSuffix("element=\"Speed\"} -1.0") } == Self.count
            }
            #expect(metrics.events("serviceState").count { $0["state"] == "away" } == 1)
        }
        for service in services { await service.stop() }
    }
}

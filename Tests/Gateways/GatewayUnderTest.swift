import Elemental
import TestSupport
import Testing

/// A gateway on loopback, unpublished, with one line.
protocol GatewayUnderTest: Sendable {
    /// Where the machine or the device is to be attached.
    var lineName: String { get }
    /// The port of the service, once it runs.
    var port: Int { get async throws }
}

extension GatewayUnderTest {
    var linePort: Int {
        get throws { try #require(lineName.split(separator: ":").last.flatMap { Int($0) }) }
    }

    /// A client that has the catalogue.
    func client(_ name: String = "tester") async throws -> ElementalDevice {
        var options = ConnectOptions()
        options.expectsHello = true
        options.timeout = Patience.wait
        return try await ElementalDevice.connect(
            host: "127.0.0.1", port: try await port, as: name, elements: nil, options: options)
    }
}

import CommodoreGateway
import Elemental
import Foundation
import Support
import TestSupport
import Testing

extension GatewayLine {
    static let loopback = GatewayLine.tcp(host: "127.0.0.1", port: 0, usesIP232: false)
}

/// A gateway on loopback, unpublished, stopped in every case.
func withGateway(
    _ line: GatewayLine = .loopback, _ change: (inout GatewayConfiguration) -> Void = { _ in },
    _ body: (RunningGateway) async throws -> Void
) async throws {
    var configuration = GatewayConfiguration()
    configuration.service.address = "127.0.0.1"
    configuration.service.isPublished = false
    change(&configuration)
    let gateway = CommodoreGateway(line: line, displayName: "Test", configuration: configuration)
    let running = RunningGateway(gateway)
    try await gateway.openLine()
    do {
        try await gateway.service.start()
        try await body(running)
    } catch {
        await gateway.closeLine()
        await gateway.service.stop()
        throw error
    }
    await gateway.closeLine()
    await gateway.service.stop()
}

final class RunningGateway: GatewayUnderTest {
    let gateway: CommodoreGateway
    private let lines = Transcript<String>()

    init(_ gateway: CommodoreGateway) {
        self.gateway = gateway
        gateway.onEvent { [lines] event in
            if case .line(.ready(let name)) = event { lines.add(name) }
        }
    }

    var lineName: String { lines.all.last ?? "" }
    var port: Int { get async throws { try #require(gateway.service.port) } }
}

protocol MachineEnd: Sendable {
    func write(_ bytes: [UInt8]) throws
    /// Reads exactly this number of bytes, or fails after a time.
    func read(_ count: Int) async throws -> [UInt8]
}

extension RawSocket: MachineEnd {}

extension MachineEnd {
    func readRecord() async throws -> [UInt8] {
        let head = try await read(2)
        return try await head + read(Int(head[1]))
    }

    /// Connects as a native program, and waits for the gateway's answers.
    func connect(_ name: String = "test") async throws {
        try write([4, 0])
        #expect(try await readRecord() == [1, 0])
        try write([3, 0])
        #expect(try await readRecord() == [1, 0])
        let address = Array("elemental:\(name)".utf8)
        try write([5, UInt8(address.count)] + address)
        #expect(try await readRecord() == [4, 9] + Array("Connected".utf8))
    }
}

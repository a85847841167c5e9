import Elemental
import ElementalSecurity
import ElementalWire
import Foundation
import TestSupport
import Testing

/// A bridge's own identity, and what it asks for.
struct BridgeSecurityTests {
    private static func with<Result>(
        _ bed: PairingBed, _ options: [String], port: Int = 1, _ body: (ChildProcess) async throws -> Result
    ) async throws -> Result {
        let bridge = ["signalr", "bridge", bed.target, "--hub", "http://127.0.0.1:\(port)/hub", "--json"]
        return try await withCommand(bridge + options, environment: ["ELEMENTAL_STATE": bed.state], body)
    }

    /// The command that a bridge names for its service, without its first word.
    private static func pairing(_ bed: PairingBed, _ options: [String]) async throws -> [String] {
        try await with(bed, options) { bridge in
            let state = try await bridge.nextEvent("serviceState")
            #expect(state["state"] == "away" && state["reason"] == "unauthenticated", "\(bridge.transcript)")
            let message: String = state["message"] ?? ""
            let command = try #require(message.firstRange(of: "type: elemental pair "))
            return ["pair"] + message[command.upperBound...].split(separator: " ").map(String.init)
        }
    }

    @Test(
        .enabled(if: Peers.areThere, "the peers are set up by Tests/install signalr"),
        arguments: [(["--control"], Role.control), ([], .observe)])
    func aBridgeIsPairedByItselfForWhatItDoes(_ options: [String], _ role: Role) async throws {
        try await PairingBed.with { bed in
            // That its user is paired does not help.
            try await bed.pair()
            let pair = try await Self.pairing(bed, options)
            #expect(pair.contains("\(bed.state)/signalr-bridge"))
            let code = try await bed.openWindow()
            try await expectSuccess(ElementalProcess.run(pair, input: [code]))
            let clients = try bed.serviceState.trust.read().clients
            #expect(clients.count == 2 && clients.contains { $0.name.hasPrefix("signalr-bridge") && $0.role == role })
            try await Peers.withHub { _, port in
                try await Self.with(bed, options, port: port) { bridge in
                    let begins = try await bridge.nextEvent("bridging")
                    #expect(begins["role"] == role.rawValue && begins["control"] == !options.isEmpty)
                    #expect(bed.service.devices.map(\.grantedRole) == [role])
                }
            }
        }
    }

    @Test(.enabled(if: Peers.areThere, "the peers are set up by Tests/install signalr"))
    func aBridgeThatMayOnlyReadSaysHowToControl() async throws {
        try await PairingBed.with(.pairedToControl) { bed in
            try await Peers.withHub { _, port in
                let options = ["--hub", "http://127.0.0.1:\(port)/hub", "--control", "--state", bed.state]
                try await withCommand(["signalr", "bridge", bed.target] + options) { bridge in
                    _ = try await bridge.nextLine(of: .error) {
                        $0.contains("does not let this bridge set anything") && $0.contains("--role control")
                            && $0.hasSuffix("--state \(bed.state)")
                    }
                }
            }
        }
    }
}

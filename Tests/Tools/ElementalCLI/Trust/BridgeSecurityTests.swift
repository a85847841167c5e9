import Elemental
import ElementalSecurity
import ElementalWire
import Foundation
import TestSupport
import Testing

/// A bridge's own identity, and what it asks for.
struct BridgeSecurityTests {
    private static let hub = "http://127.0.0.1:1/hub"

    /// The command that a bridge names for its service, without its first word.
    private static func pairing(_ bed: PairingBed, _ options: [String]) async throws -> [String] {
        try await ChildProcess.with(
            ElementalProcess.path, ["signalr", "bridge", bed.target, "--hub", hub, "--json"] + options,
            environment: ["ELEMENTAL_STATE": bed.state]
        ) { bridge in
            let error = try await bridge.nextEvent("error")
            #expect(error["code"] == "notPaired", "\(bridge.transcript)")
            let message: String = error["message"] ?? ""
            let command = try #require(message.firstRange(of: "type: elemental pair "))
            return ["pair"] + message[command.upperBound...].split(separator: " ").map(String.init)
        }
    }

    @Test(arguments: [(["--control"], Role.control), ([], .observe)])
    func aBridgeIsPairedByItselfForWhatItDoes(_ options: [String], _ role: Role) async throws {
        try await PairingBed.with { bed in
            // That its user is paired does not help.
            try await bed.pair()
            let pair = try await Self.pairing(bed, options)
            #expect(pair.contains("\(bed.state)/signalr-bridge"))
            let code = try await bed.openWindow()
            let paired = try await ChildProcess.with(ElementalProcess.path, pair) { child in
                try child.writeLine(code)
                child.closeInput()
                return try await child.waitForExit()
            }
            #expect(paired == .exited(0))
            let clients = try bed.serviceState.trust.read().clients
            #expect(clients.count == 2 && clients.contains { $0.name.hasPrefix("signalr-bridge") && $0.role == role })
            try await Peers.withHub { _, port in
                try await ChildProcess.with(
                    ElementalProcess.path,
                    ["signalr", "bridge", bed.target, "--hub", "http://127.0.0.1:\(port)/hub", "--json"] + options,
                    environment: ["ELEMENTAL_STATE": bed.state]
                ) { bridge in
                    let begins = try await bridge.nextEvent("bridging")
                    #expect(begins["role"] == role.rawValue && begins["control"] == !options.isEmpty)
                    #expect(bed.service.devices.map(\.grantedRole) == [role])
                }
            }
        }
    }

    @Test
    func aBridgeThatMayOnlyReadSaysHowToControl() async throws {
        try await PairingBed.with(.pairedToControl) { bed in
            try await Peers.withHub { _, port in
                try await ChildProcess.with(
                    ElementalProcess.path,
                    [
                        "signalr", "bridge", bed.target, "--hub", "http://127.0.0.1:\(port)/hub", "--control",
                        "--state",
                        bed.state,
                    ]
                ) { bridge in
                    _ = try await bridge.nextLine(of: .error) {
                        $0.contains("lets this bridge set nothing") && $0.contains("--role control")
                            && $0.hasSuffix("--state \(bed.state)")
                    }
                }
            }
        }
    }
}

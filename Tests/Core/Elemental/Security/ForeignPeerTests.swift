import ElementalWire
import Foundation
import TestSupport
import Testing

@testable import Elemental
@testable import ElementalSecurity

/// Encrypted connections with a second implementation, in Python: TLS by its ssl, pairing written from the page Wire.md,
/// datagrams sealed and opened by the package cryptography.
@Suite(.enabled(if: SecurityPeers.areThere, "Tests/install security"), .backstop)
struct ForeignPeerTests {
    private static let vector: Vector3 = [1.25, -2.5, 1024]
    private static let vectorBytes = "0000a03f000020c000008044"

    /// The certificate's dates are those of 1999 to 2001 in all of them.
    @Test(arguments: ["ed25519", "p256"])
    func aClientInPythonPairsAndControls(_ kind: String) async throws {
        try await Strangers.with { ends, service, port, secrets in
            let labels = Transcript<String>()
            service.onValue(of: Lamp.label) { value, device in
                labels.add("\(device.name) \(device.grantedRole ?? .plain): \(value)")
            }
            let motions = Transcript<Vector3>()
            service.onValue(of: Lamp.motion) { value, _ in motions.add(value) }
            try service.openPairing(for: .seconds(3600))
            try await secrets.wait(for: 1)
            let code = try #require(secrets.all.first).text
            try await withFolder { folder in
                let arguments = ["127.0.0.1", "\(port)", "test", folder + "/identity", "--kind", kind]
                for options in [["--code", code], []] {
                    try await SecurityPeers.with("client.py", arguments + options) { client in
                        let admitted = try await client.nextEvent("admitted")
                        #expect(admitted.number("role") == 2)
                        #expect(admitted["fingerprint"] == Hexadecimal.text(ends.service.fingerprint.bytes))
                        try await client.nextEvent("ready")
                        try await Self.exchange(with: client, labels, motions) {
                            _ = try service.send("off", to: Lamp.label)
                            _ = try service.send(Self.vector, to: Lamp.motion)
                        }
                    }
                    try await eventually { service.devices.isEmpty }
                }
            }
            #expect(labels.all == ["python control: on", "python control: on"])
            #expect(motions.all == [Self.vector, Self.vector])
            #expect(ends.serviceStore.read().clients.map(\.name) == ["python"])
        }
    }

    /// Sends a text over TCP and a vector in a datagram, both ways.
    private static func exchange(
        with python: ChildProcess, _ labels: Transcript<String>, _ motions: Transcript<Vector3>,
        _ send: () throws -> Void
    ) async throws {
        let before = (labels.all.count, motions.all.count)
        try python.writeLine("tcp 3 6f6e")
        try await labels.wait(for: before.0 + 1)
        try python.writeLine("udp 2 \(vectorBytes)")
        try await motions.wait(for: before.1 + 1)
        try send()
        // In either order.
        for (via, id, value) in [("tcp", 3.0, "6f6666"), ("udp", 2.0, vectorBytes)] {
            try await eventually("\(via): \(python.transcript)") {
                python.lines(of: .output).compactMap { JSONLine($0) }.contains {
                    $0["via"] == via && $0.number("id") == id && $0["value"] == value
                }
            }
        }
    }

    @Test
    func aClientInPythonWithAnotherCodeIsNotPaired() async throws {
        try await Strangers.with { ends, service, port, secrets in
            try service.openPairing(for: .seconds(3600))
            try await secrets.wait(for: 1)
            let wrong = try #require(secrets.all.first).text == "000000" ? "000001" : "000000"
            try await withFolder { folder in
                let arguments = ["127.0.0.1", "\(port)", "test", folder + "/identity", "--code", wrong]
                try await SecurityPeers.with("client.py", arguments) { client in
                    try await client.nextEvent("wrongCode")
                }
            }
            #expect(ends.serviceStore.read().clients.isEmpty)
        }
    }

    @Test
    func aServiceInPythonIsPairedWithAndControlled() async throws {
        let ends = try PairedEnds(nil)
        try ends.clientStore.update { $0.services = [] }
        try await withFolder { folder in
            let code = "135790"
            try Self.writeCertificate(of: ends.client, to: folder + "/certificate")
            let arguments = ["test", folder + "/identity", folder + "/certificate", code]
            try await SecurityPeers.with("service.py", arguments) { service in
                let listening = try await service.nextEvent("listening")
                let port = Int(try #require(listening.number("port")))
                await #expect(throws: ElementalError.self) {
                    _ = try await Strangers.pair(ends, port, with: PairingSecret(code: "097531"))
                }
                #expect(ends.clientStore.read().services.isEmpty)
                let trusted = try await Strangers.pair(ends, port, with: PairingSecret(code: code))
                #expect(Hexadecimal.text(trusted.fingerprint.bytes) == listening["fingerprint"])
                try await service.nextEvent("paired")

                let device = try await Strangers.connect(ends, port)
                #expect(device.grantedRole == .control)
                let labels = Transcript<String>()
                device.onValue(of: Lamp.label) { labels.add($0) }
                let motions = Transcript<Vector3>()
                device.onValue(of: Lamp.motion) { motions.add($0) }
                try await service.nextEvent("ready")
                try await Self.exchange(with: service, labels, motions) {
                    try device.send("off", to: Lamp.label)
                    try device.send(Self.vector, to: Lamp.motion)
                }
                #expect(labels.all == ["on"])
                await device.close()
            }
        }
    }

    private static func writeCertificate(of identity: any Identity, to path: String) throws {
        let text = Data(identity.certificate).base64EncodedString(options: [
            .lineLength64Characters, .endLineWithLineFeed,
        ])
        try "-----BEGIN CERTIFICATE-----\n\(text)\n-----END CERTIFICATE-----\n"
            .write(toFile: path, atomically: true, encoding: .utf8)
    }

    @Test
    func aManInTheMiddleWithKeysOfItsOwnPairsNobody() async throws {
        try await Strangers.with { ends, service, port, secrets in
            try service.openPairing(for: .seconds(3600))
            try await secrets.wait(for: 1)
            let events = Transcript<String>()
            service.onEvent { if case .pairing(.closed) = $0 { events.add("closed") } }
            try await withFolder { folder in
                try await SecurityPeers.with("proxy.py", ["\(port)", folder + "/identity"]) { proxy in
                    let between = Int(try #require(try await proxy.nextEvent("listening").number("port")))
                    var codes: [ElementalError.Code?] = []
                    for _ in 0..<5 {
                        let error = await #expect(throws: ElementalError.self) {
                            // The right code, as the person reads it from the service.
                            _ = try await Strangers.pair(ends, between, with: secrets.all[0])
                        }
                        codes.append(error?.code)
                    }
                    #expect(codes == Array(repeating: .wrongCode, count: 5))
                    // Each was the one guess that it has, and it has no more.
                    try await eventually { events.all == ["closed"] }
                    // What passed it was decrypted and encrypted again: it was in the middle.
                    let passed = try await proxy.nextEvent("ended") { $0.number("fromService") ?? 0 > 65 }
                    #expect(passed.number("fromClient") ?? 0 > 65)
                }
            }
            #expect(ends.serviceStore.read().clients.isEmpty)
            #expect(ends.clientStore.read().services.isEmpty)
        }
    }

    @Test
    func aTicketDoesNotBringBackWhoWasRevoked() async throws {
        let identity = Ed25519Identity()
        let ends = try PairedEnds(client: identity)
        try await ends.withService { service, port in
            try await withFolder { folder in
                try identity.pem().write(toFile: folder + "/identity", atomically: true, encoding: .utf8)
                try await SecurityPeers.with("resume.py", ["\(port)", "test", folder + "/identity"]) { client in
                    try await client.nextEvent("admitted")
                    #expect(try await client.nextEvent("ticket")["isThere"] == true)
                    try await eventually { service.devices.count == 1 }
                    try ends.trust(nil)
                    try await eventually { service.devices.isEmpty }
                    try client.writeLine("again")
                    let refused = try await client.nextEvent("refused")
                    #expect(refused.number("code") == 4)
                    #expect(refused["resumed"] == false)
                }
            }
            #expect(service.devices.isEmpty)
        }
    }
}

import ElementalWire

@testable import ElementalSecurity

/// The file of trusted peers. What can be read is the same when it is written again, names each thing once, and grants
/// nothing but roles that can be granted.
enum TrustFileTarget: FuzzTarget {
    static let name = "trust"

    private static func key(_ number: UInt8) -> Fingerprint { Fingerprint(publicKey: [number]) }

    static func seeds(_ frames: RecordedFrames) -> [[UInt8]] {
        var unknown = TrustedClient(fingerprint: key(3), name: "Ben", role: .admin, services: .all)
        unknown.storedRole = StoredRole(name: "owner")
        let peers = TrustedPeers(
            clients: [
                TrustedClient(fingerprint: key(1), name: "Ada's laptop", role: .control, services: ["robot", "lamp"]),
                TrustedClient(
                    fingerprint: key(1), name: "Ada's laptop", role: .observe, services: ["door"], pairedBy: key(2)),
                unknown,
            ],
            services: [
                TrustedService(
                    fingerprint: key(4), service: "robot", instance: "Rover",
                    hosts: [.init("192.168.1.7", port: 5000), .init("fe80::1%eth0", port: 1)], role: .admin)
            ])
        // Names that differ in case alone.
        var twice = peers
        twice.services += peers.services
        twice.services[1].instance = "Other"
        let text = (try? TrustFile.text(twice)).map { String(decoding: $0, as: UTF8.self) }
        let merged = text.map { Array($0.replacing("Other", with: "ROVER").utf8) }
        return [TrustedPeers(), peers].compactMap { try? TrustFile.text($0) } + (merged.map { [$0] } ?? [])
    }

    static func run(_ input: UnsafeRawBufferPointer) {
        guard let peers = try? TrustFile.peers(Array(input)) else { return }
        guard let text = try? TrustFile.text(peers) else { return check(false, "what was read cannot be written") }
        check((try? TrustFile.peers(text)) == peers, "peers that change")
        for client in peers.clients {
            check(client.role != .plain, "a role that cannot be granted")
            check(
                peers.clients.allSatisfy { $0.name != client.name || $0.fingerprint == client.fingerprint },
                "a name twice")
            if case .named(let names) = client.services { check(!names.isEmpty, "a client of nothing") }
            let granted = peers.role(of: client.fingerprint, for: "robot")
            check(granted != .plain, "a role that cannot be granted")
        }
        check(peers.role(of: key(200), for: "robot") == nil, "a stranger has a role")
    }
}

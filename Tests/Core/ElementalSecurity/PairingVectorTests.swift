import ElementalWire
import Foundation
import TestSupport
import Testing

@testable import ElementalSecurity

/// Compares whole pairings with a second implementation, in Python, to the byte.
struct PairingVectorTests {
    struct Vector: Decodable {
        let kind: UInt8
        let secret, client, service, serviceName, name: String
        let windowRole, wantedRole, grantedRole: UInt8
        let serviceNonce, clientNonce, serviceScalar, clientScalar: String
        let frames: [String]
    }

    private func vectors(_ text: Data) throws -> [Vector] { try JSONDecoder().decode([Vector].self, from: text) }

    private func compare(_ vector: Vector) throws {
        /// Gives these bytes, one list after the other.
        final class Draws: @unchecked Sendable {
            private var lists: [[UInt8]]
            init(_ lists: [String]) { self.lists = lists.map(bytes) }
            func next(_ count: Int) -> [UInt8] {
                let list = lists.removeFirst()
                precondition(list.count == count, "\(list.count) bytes where \(count) are wanted")
                return list
            }
        }
        let kind = try #require(PairingSecret.Kind(rawValue: vector.kind))
        let secret = try #require(PairingSecret(kind: kind, bytes: bytes(vector.secret)))
        let clients = Draws([vector.clientNonce, vector.clientScalar])
        let services = Draws([vector.serviceNonce, vector.serviceScalar])
        let (client, service) = try (
            #require(Fingerprint(bytes: bytes(vector.client))), #require(Fingerprint(bytes: bytes(vector.service)))
        )
        let wanted = try #require(Role(code: vector.wantedRole))
        var ends = AdmissionEnds(.pair(secret, wanted))
        ends.client = ClientAdmission(
            .pair(secret, wanted), service: vector.serviceName, name: vector.name, own: client, peer: service,
            random: clients.next)
        ends.service = ServiceAdmission(
            service: vector.serviceName, own: service, peer: client, isLoopback: false, storedRole: { _ in nil },
            random: services.next)
        let shown = ends.window.open(
            kind, for: .seconds(300), role: try #require(Role(code: vector.windowRole)), at: ends.now
        ) { count in
            guard kind == .code, let number = Int(secret.text) else { return secret.bytes }
            return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
        }
        #expect(shown == secret)
        ends.run()
        #expect(ends.frames.map(\.bytes) == vector.frames.map(bytes))
        #expect(ends.acceptedRole?.code == vector.grantedRole)
    }

    @Test
    func recordedPairingsAreTheSame() throws {
        let vectors = try vectors(Data(PackageResources.pairing_vectors_json))
        #expect(vectors.count == 8)
        for vector in vectors { try compare(vector) }
    }

    @Test(.enabled(if: SecurityPeers.areThere, "Tests/install security"))
    func newPairingsAreTheSame() async throws {
        let text = try await SecurityPeers.run("vectors.py", ["40", "20"])
        for vector in try vectors(Data(text.utf8)) { try compare(vector) }
        // And the recorded ones are those that it prints.
        let recorded = try await SecurityPeers.run("vectors.py", ["2026", "8"])
        #expect(Array(recorded.utf8) == PackageResources.pairing_vectors_json.dropLast())
    }
}

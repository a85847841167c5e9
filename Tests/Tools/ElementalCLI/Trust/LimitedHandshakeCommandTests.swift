import ElementalSecurity
import NIOCore
import TestSupport
import Testing

@testable import Elemental

/// What commands say where a service has let their host begin all the handshakes of a second.
@Suite(.backstop)
struct LimitedHandshakeCommandTests {
    /// Runs a service whose second does not end, after its five handshakes.
    private static func with(_ body: (_ target: String, _ service: String, _ user: String) async throws -> Void)
        async throws
    {
        try await withFolder { folder in
            let (state, user) = (
                try SecurityState(directory: folder + "/service"), try SecurityState(directory: folder + "/user")
            )
            let now = NIODeadline.now()
            var configuration = ServiceConfiguration()
            configuration.limits.handshakeTimeout = Patience.wait * 9
            configuration.address = "127.0.0.1"
            configuration.isPublished = false
            configuration.security = .paired(identity: state.identity, store: state.trust)
            configuration.acceptClock = { now }
            let service = ElementalService("lamp", displayName: "Lamp", elements: [], configuration: configuration)
            try await service.start()
            let port = try #require(service.port)
            try user.trust.update { peers in
                try peers.pin(
                    TrustedService(
                        fingerprint: state.identity.fingerprint, service: "lamp", instance: "127.0.0.1:\(port)",
                        hosts: [.init("127.0.0.1", port: UInt16(port))], role: .control),
                    own: user.identity.fingerprint)
            }
            for _ in 0..<UnauthorisedConnections.handshakesPerSecond.perHost {
                var options = ConnectOptions()
                options.timeout = Patience.wait
                options.security = .required(identity: Ed25519Identity(), store: InMemoryTrustStore())
                await #expect {
                    _ = try await ServicePlace.address(host: "127.0.0.1", port: port).pair(
                        as: "stranger", options: options
                    ) { _ in nil }
                } throws: {
                    ($0 as? ElementalError)?.code == .pairingClosed
                }
            }
            try await carryOut {
                try await body("127.0.0.1:\(port)", state.directory, user.directory)
            } finally: {
                await service.stop()
            }
        }
    }

    /// Nothing is said of the service but what was seen.
    @Test
    func commandsSayWhatTheySaw() async throws {
        try await Self.with { target, service, user in
            for arguments in [
                ["pair", target, "--code", "123456", "--state", user + "-stranger"],
                ["open-pairing", target, "--state", service],
                ["watch", target, "--reconnect", "--state", user],
                ["watch", target, "--reconnect", "--security", "paired", "--state", service],
            ] {
                let result = try await ElementalProcess.run(arguments + ["--json", "--timeout", Patience.seconds])
                #expect(result.status == .exited(1), "\(result)")
                let error = try #require(result.output.last.flatMap { JSONLine($0) })
                #expect(error["reason"] == "connectionFailed", "\(result)")
                let said = (result.output + result.errors).joined()
                #expect(said.contains("the connection was closed before an answer, twice"), "\(result)")
                for untruth in [
                    "does not offer encrypted", "older program", "notPaired", "not paired", "elemental pair",
                ] {
                    #expect(!said.contains(untruth), "\(result)")
                }
            }
        }
    }
}

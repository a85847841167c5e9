import Foundation

/// The keys of the encrypted measurements, made when they are first needed and removed with this process. All have keys
/// of the same kind: Ed25519.
final class Credentials {
    /// A PEM file with a key and a certificate, for the peers.
    private lazy var identity = Result {
        let file = try TemporaryFolder.make().appendingPathComponent("identity.pem").path
        let openssl = Process()
        openssl.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        openssl.arguments = [
            "openssl", "req", "-x509", "-newkey", "ed25519", "-nodes", "-subj", "/CN=peer", "-keyout", file, "-out",
            file,
        ]
        openssl.standardError = FileHandle.nullDevice
        try openssl.run()
        openssl.waitUntilExit()
        guard openssl.terminationStatus == 0 else { throw CompareError("openssl makes no key and certificate") }
        return file
    }

    /// The framework's state directory, with an identity that both ends share.
    private lazy var state = Result { try TemporaryFolder.make().appendingPathComponent("state").path }

    /// The options with which a peer speaks TLS.
    func peerOptions(_ transport: Transport) throws -> [String] {
        transport.isEncrypted ? ["--identity", try identity.get()] : []
    }

    /// The options with which the framework's command line admits paired clients only, and connects to such a service.
    func ownOptions(_ transport: Transport) throws -> [String] {
        transport.isEncrypted ? ["--security", "paired", "--state", try state.get()] : []
    }
}

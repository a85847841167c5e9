import ElementalSecurity
import NIOCore
import NIOPosix
import NIOSSL

/// A private key that cannot be exported: signatures are made by whoever holds it, on a thread that may block.
final class ExternalKey: NIOSSLCustomPrivateKey, Hashable {
    let signatureAlgorithms: [SignatureAlgorithm]
    private let makeSignature: @Sendable ([UInt8]) throws -> [UInt8]

    init(_ kind: IdentityKey.ExternalKeyKind, _ sign: @escaping @Sendable ([UInt8]) throws -> [UInt8]) {
        switch kind {
        case .ed25519: signatureAlgorithms = [.ed25519]
        case .p256: signatureAlgorithms = [.ecdsaSecp256R1Sha256]
        }
        makeSignature = sign
    }

    func sign(channel: any Channel, algorithm: SignatureAlgorithm, data: ByteBuffer) -> EventLoopFuture<ByteBuffer> {
        let message = [UInt8](data.readableBytesView)
        return NIOThreadPool.singleton.runIfActive(eventLoop: channel.eventLoop) { [makeSignature] in
            ByteBuffer(bytes: try makeSignature(message))
        }
    }

    func decrypt(channel: any Channel, data: ByteBuffer) -> EventLoopFuture<ByteBuffer> {
        channel.eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
    }

    static func == (a: ExternalKey, b: ExternalKey) -> Bool { a === b }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

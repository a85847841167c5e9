#if canImport(CSodium)
import CSodium
#else
import CryptoKit
import Foundation
#endif

/// Ed25519 (RFC 8032). The CryptoKit half follows its documentation and has not been run yet.
extension Primitives {
    #if canImport(CSodium)
    /// The public key, 32 bytes.
    ///
    /// - Parameter seed: the private key in the form of RFC 8032, 32 bytes.
    package static func ed25519PublicKey(seed: [UInt8]) -> [UInt8] {
        var pair = keyPair(seed: seed)
        defer { erase(&pair.secret) }
        return pair.publicKey
    }

    /// Signs a message. The signature has 64 bytes.
    ///
    /// - Parameter seed: 32 bytes.
    package static func ed25519Signature(of message: [UInt8], seed: [UInt8]) -> [UInt8] {
        var pair = keyPair(seed: seed)
        defer { erase(&pair.secret) }
        var signature = [UInt8](repeating: 0, count: Int(crypto_sign_BYTES))
        _ = crypto_sign_detached(&signature, nil, message, UInt64(message.count), pair.secret)
        return signature
    }

    private static func keyPair(seed: [UInt8]) -> (publicKey: [UInt8], secret: [UInt8]) {
        precondition(seed.count == Int(crypto_sign_SEEDBYTES), "an Ed25519 seed must have 32 bytes")
        var publicKey = [UInt8](repeating: 0, count: Int(crypto_sign_PUBLICKEYBYTES))
        var secret = [UInt8](repeating: 0, count: Int(crypto_sign_SECRETKEYBYTES))
        _ = crypto_sign_seed_keypair(&publicKey, &secret, seed)
        return (publicKey, secret)
    }
    #else
    package static func ed25519PublicKey(seed: [UInt8]) -> [UInt8] {
        Array(key(seed: seed).publicKey.rawRepresentation)
    }

    package static func ed25519Signature(of message: [UInt8], seed: [UInt8]) -> [UInt8] {
        guard let signature = try? key(seed: seed).signature(for: message) else {
            preconditionFailure("CryptoKit cannot sign: no source of randomness")
        }
        return Array(signature)
    }

    private static func key(seed: [UInt8]) -> Curve25519.Signing.PrivateKey {
        guard let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: seed) else {
            preconditionFailure("an Ed25519 seed must have 32 bytes")
        }
        return key
    }
    #endif
}

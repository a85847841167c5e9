#if canImport(CSodium)
import CSodium
#else
import CryptoKit
import Foundation
#endif

/// The cryptographic functions of this module: libsodium on Linux, CryptoKit on Apple's platforms.
package enum Primitives {
    #if canImport(CSodium)
    /// libsodium selects its implementations once; any thread may request that.
    private static let isReady = sodium_init() >= 0

    private static func prepare() { precondition(isReady, "libsodium cannot be initialised: no source of randomness") }

    /// Cryptographically secure random bytes.
    package static func randomBytes(_ count: Int) -> [UInt8] {
        prepare()
        var bytes = [UInt8](repeating: 0, count: count)
        randombytes_buf(&bytes, count)
        return bytes
    }

    /// A uniformly distributed number below `bound`.
    package static func randomNumber(below bound: UInt32) -> UInt32 {
        prepare()
        return randombytes_uniform(bound)
    }

    /// SHA-256 (FIPS 180-4), 32 bytes.
    package static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        var hash = [UInt8](repeating: 0, count: Int(crypto_hash_sha256_BYTES))
        _ = crypto_hash_sha256(&hash, bytes, UInt64(bytes.count))
        return hash
    }

    /// SHA-512 (FIPS 180-4), 64 bytes.
    package static func sha512(_ bytes: [UInt8]) -> [UInt8] {
        var hash = [UInt8](repeating: 0, count: Int(crypto_hash_sha512_BYTES))
        _ = crypto_hash_sha512(&hash, bytes, UInt64(bytes.count))
        return hash
    }

    /// HMAC-SHA-256 (RFC 2104), 32 bytes, for keys of any length.
    package static func hmacSHA256(key: [UInt8], _ bytes: [UInt8]) -> [UInt8] {
        var state = crypto_auth_hmacsha256_state()
        var code = [UInt8](repeating: 0, count: Int(crypto_auth_hmacsha256_BYTES))
        crypto_auth_hmacsha256_init(&state, key, key.count)
        crypto_auth_hmacsha256_update(&state, bytes, UInt64(bytes.count))
        crypto_auth_hmacsha256_final(&state, &code)
        return code
    }

    /// HMAC-SHA-512 (RFC 2104), 64 bytes, for keys of any length.
    package static func hmacSHA512(key: [UInt8], _ bytes: [UInt8]) -> [UInt8] {
        var state = crypto_auth_hmacsha512_state()
        var code = [UInt8](repeating: 0, count: Int(crypto_auth_hmacsha512_BYTES))
        crypto_auth_hmacsha512_init(&state, key, key.count)
        crypto_auth_hmacsha512_update(&state, bytes, UInt64(bytes.count))
        crypto_auth_hmacsha512_final(&state, &code)
        return code
    }

    /// X25519 (RFC 7748).
    ///
    /// - Parameters:
    ///   - scalar: 32 bytes.
    ///   - point: the peer's u-coordinate, 32 bytes.
    /// - Returns: the shared u-coordinate, or `nil` if it is zero: the point is then of low order, and the result is
    ///   not secret.
    package static func x25519(_ scalar: [UInt8], _ point: [UInt8]) -> [UInt8]? {
        guard scalar.count == 32, point.count == 32 else { return nil }
        var product = [UInt8](repeating: 0, count: 32)
        guard crypto_scalarmult_curve25519(&product, scalar, point) == 0 else { return nil }
        return isEqual(product, [UInt8](repeating: 0, count: 32)) ? nil : product
    }

    /// Compares in a time that depends only on the lengths.
    package static func isEqual(_ a: [UInt8], _ b: [UInt8]) -> Bool {
        a.count == b.count && sodium_memcmp(a, b, a.count) == 0
    }

    /// Overwrites a secret that is no longer needed.
    package static func erase(_ bytes: inout [UInt8]) { sodium_memzero(&bytes, bytes.count) }
    #else
    package static func randomBytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in .random(in: .min ... .max) } }

    package static func randomNumber(below bound: UInt32) -> UInt32 { .random(in: 0..<bound) }

    package static func sha256(_ bytes: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: bytes)) }

    package static func sha512(_ bytes: [UInt8]) -> [UInt8] { Array(SHA512.hash(data: bytes)) }

    package static func hmacSHA256(key: [UInt8], _ bytes: [UInt8]) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: bytes, using: SymmetricKey(data: key)))
    }

    package static func hmacSHA512(key: [UInt8], _ bytes: [UInt8]) -> [UInt8] {
        Array(HMAC<SHA512>.authenticationCode(for: bytes, using: SymmetricKey(data: key)))
    }

    package static func x25519(_ scalar: [UInt8], _ point: [UInt8]) -> [UInt8]? {
        guard let key = try? Curve25519.KeyAgreement.PrivateKey(rawRepresentation: scalar),
            let other = try? Curve25519.KeyAgreement.PublicKey(rawRepresentation: point),
            let secret = try? key.sharedSecretFromKeyAgreement(with: other)
        else { return nil }
        let product = secret.withUnsafeBytes { Array($0) }
        return isEqual(product, [UInt8](repeating: 0, count: 32)) ? nil : product
    }

    package static func isEqual(_ a: [UInt8], _ b: [UInt8]) -> Bool {
        guard a.count == b.count else { return false }
        return zip(a, b).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }

    package static func erase(_ bytes: inout [UInt8]) {
        bytes.withUnsafeMutableBytes { buffer in
            if let start = buffer.baseAddress { _ = memset_s(start, buffer.count, 0, buffer.count) }
        }
    }
    #endif

    /// HKDF-SHA-256 (RFC 5869).
    ///
    /// - Parameter byteCount: at most 8,160.
    package static func hkdfSHA256(secret: [UInt8], salt: [UInt8], info: [UInt8], byteCount: Int) -> [UInt8] {
        precondition(byteCount <= 255 * 32, "HKDF-SHA-256 can derive at most 8,160 bytes")
        let key = hmacSHA256(key: salt.isEmpty ? [UInt8](repeating: 0, count: 32) : salt, secret)
        var output: [UInt8] = []
        var block: [UInt8] = []
        var number: UInt8 = 0
        while output.count < byteCount {
            number += 1
            block = hmacSHA256(key: key, block + info + [number])
            output += block
        }
        return Array(output.prefix(byteCount))
    }
}

#if canImport(CSodium)
import CSodium
#else
import CryptoKit
import Foundation
#endif

/// ChaCha20-Poly1305 (RFC 8439) for datagrams: the nonce is four zero bytes and the counter, and the datagram's header
/// is authenticated.
struct DatagramCipher {
    private let key: [UInt8]

    /// - Parameter key: 32 bytes.
    init(key: [UInt8]) {
        precondition(key.count == 32, "a ChaCha20-Poly1305 key must have 32 bytes")
        self.key = key
    }

    #if canImport(CSodium)
    /// Seals a datagram after its header, which is already in the target.
    func seal(_ datagram: UnsafeRawBufferPointer, counter: UInt64, _ target: UnsafeMutableRawBufferPointer) {
        guard target.count == datagram.count + SealedDatagram.overhead, let start = target.baseAddress else {
            preconditionFailure("the target must be \(SealedDatagram.overhead) bytes longer than the datagram")
        }
        let header = start.assumingMemoryBound(to: UInt8.self)
        Self.withNonce(counter) { nonce in
            _ = crypto_aead_chacha20poly1305_ietf_encrypt(
                header + SealedDatagram.headerByteCount, nil,
                datagram.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt64(datagram.count), header,
                UInt64(SealedDatagram.headerByteCount), nil, nonce, key)
        }
    }

    /// Opens a datagram in place, if its tag is right.
    func open(_ datagram: UnsafeMutableRawBufferPointer, counter: UInt64) -> UnsafeRawBufferPointer? {
        let count = datagram.count - SealedDatagram.overhead
        guard count > 0, let start = datagram.baseAddress else { return nil }
        let header = start.assumingMemoryBound(to: UInt8.self)
        let content = header + SealedDatagram.headerByteCount
        let result = Self.withNonce(counter) { nonce in
            crypto_aead_chacha20poly1305_ietf_decrypt(
                content, nil, nil, content, UInt64(count + SealedDatagram.tagByteCount), header,
                UInt64(SealedDatagram.headerByteCount), nonce, key)
        }
        return result == 0 ? UnsafeRawBufferPointer(start: content, count: count) : nil
    }

    private static func withNonce<Result>(_ counter: UInt64, _ body: (UnsafePointer<UInt8>) -> Result) -> Result {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 12) { nonce in
            nonce.initialize(repeating: 0)
            for index in 0..<8 { nonce[4 + index] = UInt8(truncatingIfNeeded: counter >> (8 * UInt64(index))) }
            return body(nonce.baseAddress.unsafelyUnwrapped)
        }
    }
    #else
    func seal(_ datagram: UnsafeRawBufferPointer, counter: UInt64, _ target: UnsafeMutableRawBufferPointer) {
        let header = target[..<SealedDatagram.headerByteCount]
        guard
            let box = try? ChaChaPoly.seal(
                datagram, using: SymmetricKey(data: key), nonce: ChaChaPoly.Nonce(data: Self.nonceBytes(counter)),
                authenticating: header)
        else { return }
        UnsafeMutableRawBufferPointer(rebasing: target[SealedDatagram.headerByteCount...])
            .copyBytes(from: box.ciphertext + box.tag)
    }

    func open(_ datagram: UnsafeMutableRawBufferPointer, counter: UInt64) -> UnsafeRawBufferPointer? {
        let count = datagram.count - SealedDatagram.overhead
        guard count > 0 else { return nil }
        let content = UnsafeMutableRawBufferPointer(
            rebasing: datagram[SealedDatagram.headerByteCount..<SealedDatagram.headerByteCount + count])
        let tag = datagram[(SealedDatagram.headerByteCount + count)...]
        guard let nonce = try? ChaChaPoly.Nonce(data: Self.nonceBytes(counter)),
            let box = try? ChaChaPoly.SealedBox(nonce: nonce, ciphertext: content, tag: tag),
            let plain = try? ChaChaPoly.open(
                box, using: SymmetricKey(data: key), authenticating: datagram[..<SealedDatagram.headerByteCount])
        else { return nil }
        content.copyBytes(from: plain)
        return UnsafeRawBufferPointer(content)
    }

    private static func nonceBytes(_ counter: UInt64) -> [UInt8] {
        [0, 0, 0, 0] + (0..<8).map { UInt8(truncatingIfNeeded: counter >> (8 * UInt64($0))) }
    }
    #endif
}

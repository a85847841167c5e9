/// The layout of a sealed datagram: `0xF4`, the UDP identifier, a counter of 48 bits, little-endian, the ciphertext and
/// a tag of 16 bytes.
package enum SealedDatagram {
    /// The first byte. No plain datagram of this framework begins with it, because no system element sent in datagrams
    /// has this number.
    package static let mark: UInt8 = 0xF4
    /// The size of the header before the ciphertext. The tag authenticates it too.
    package static let headerByteCount = 8
    /// The size of the tag after the ciphertext.
    package static let tagByteCount = 16
    /// The number of bytes that sealing adds to a datagram.
    package static let overhead = headerByteCount + tagByteCount
    /// The last counter. The connection is replaced before the counters are used up.
    package static let maximumCounter: UInt64 = 1 << 48 - 1
    /// The maximum advance of a counter beyond the newest. No peer loses this many datagrams in a row: at a million a
    /// second they would take twelve days.
    package static let maximumAdvance: UInt64 = 1 << 40

    /// The contents of a datagram's header, not authenticated yet. `nil` if the datagram is not a sealed one.
    package static func header(_ datagram: UnsafeRawBufferPointer) -> (udpIdentifier: UInt8, counter: UInt64)? {
        guard datagram.count > overhead, datagram[0] == mark else { return nil }
        return (datagram[1], UInt64(littleEndian: datagram.loadUnaligned(as: UInt64.self)) >> 16)
    }
}

/// Seals outgoing datagrams, each with its own counter. It allocates nothing.
package struct DatagramSealer {
    private let cipher: DatagramCipher
    private let udpIdentifier: UInt8
    private var counter: UInt64 = 0

    /// - Parameter key: 32 bytes.
    package init(key: [UInt8], udpIdentifier: UInt8) {
        cipher = DatagramCipher(key: key)
        self.udpIdentifier = udpIdentifier
    }

    /// Seals a datagram.
    ///
    /// - Parameters:
    ///   - datagram: the plaintext, at least one byte.
    ///   - target: ``SealedDatagram/overhead`` bytes longer than the datagram. The two may not overlap.
    /// - Returns: whether a counter was left.
    package mutating func seal(_ datagram: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer) -> Bool {
        guard counter < SealedDatagram.maximumCounter else { return false }
        counter += 1
        let header = UInt64(SealedDatagram.mark) | UInt64(udpIdentifier) << 8 | counter << 16
        target.storeBytes(of: header.littleEndian, as: UInt64.self)
        cipher.seal(datagram, counter: counter, target)
        return true
    }
}

/// Opens received datagrams, each once.
package struct DatagramOpener {
    /// The reason why a datagram is rejected.
    package enum Refusal: Sendable, Equatable {
        /// The datagram is too short, or has another mark or UDP identifier.
        case malformed
        /// The counter was already received, or is too old.
        case replayed
        /// The peer cannot have reached this counter.
        case impossible
        /// The tag is wrong: another sender sealed or changed the datagram.
        case forged
    }

    /// The counters that were accepted.
    package private(set) var window = ReplayWindow()
    private let cipher: DatagramCipher
    private let udpIdentifier: UInt8

    /// - Parameter key: 32 bytes.
    package init(key: [UInt8], udpIdentifier: UInt8) {
        cipher = DatagramCipher(key: key)
        self.udpIdentifier = udpIdentifier
    }

    /// Checks a datagram's header alone, which is cheap. The header is not authenticated.
    ///
    /// - Returns: the counter, if the datagram may be a new one from the peer.
    package func check(_ datagram: UnsafeRawBufferPointer) -> Result<UInt64, Refusal> {
        guard let header = SealedDatagram.header(datagram), header.udpIdentifier == udpIdentifier else {
            return .failure(.malformed)
        }
        guard header.counter > 0, header.counter <= window.newest + SealedDatagram.maximumAdvance else {
            return .failure(.impossible)
        }
        return window.allows(header.counter) ? .success(header.counter) : .failure(.replayed)
    }

    /// Opens a datagram in place.
    ///
    /// - Returns: the plaintext, within the datagram's bytes, and whether no newer datagram was accepted before it.
    package mutating func open(
        _ datagram: UnsafeMutableRawBufferPointer
    ) -> Result<(content: UnsafeRawBufferPointer, isNewest: Bool), Refusal> {
        check(UnsafeRawBufferPointer(datagram)).flatMap { counter in
            guard let content = cipher.open(datagram, counter: counter) else { return .failure(.forged) }
            let isNewest = counter > window.newest
            window.mark(counter)
            return .success((content, isNewest))
        }
    }
}

extension DatagramOpener.Refusal: Error {}

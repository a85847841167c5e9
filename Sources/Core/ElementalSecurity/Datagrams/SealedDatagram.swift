/// The layout of a sealed datagram: `0xF4`, the UDP identifier, a counter of 48 bits, little-endian, the ciphertext and
/// a tag of 16 bytes.
package enum SealedDatagram {
    /// The first byte. No plain datagram of this framework begins with it: no system element sent in datagrams has this
    /// number.
    package static let mark: UInt8 = 0xF4
    /// The header, before the ciphertext; authenticated with it.
    package static let headerByteCount = 8
    /// The tag, after the ciphertext.
    package static let tagByteCount = 16
    /// The bytes that sealing adds to a datagram.
    package static let overhead = headerByteCount + tagByteCount
    /// The last counter: the connection is replaced before it is used up.
    package static let maximumCounter: UInt64 = 1 << 48 - 1
    /// How far ahead of the newest a counter may be. No peer sends so many datagrams that are all lost: at a million in a
    /// second they would take twelve days.
    package static let maximumAdvance: UInt64 = 1 << 40

    /// The contents of a datagram's header, which are not authenticated yet.
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
    ///   - target: ``SealedDatagram/overhead`` bytes longer than that; they may not overlap.
    /// - Returns: whether a counter was left for it.
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
    /// Why a datagram is rejected.
    package enum Refusal: Sendable, Equatable {
        /// It is too short, or has another mark or UDP identifier.
        case malformed
        /// Its counter was already received, or is too old.
        case replayed
        /// Its counter is one that the peer cannot have reached.
        case impossible
        /// Its tag is wrong: somebody else sealed or changed it.
        case forged
    }

    /// Counters that were accepted.
    package private(set) var window = ReplayWindow()
    private let cipher: DatagramCipher
    private let udpIdentifier: UInt8

    /// - Parameter key: 32 bytes.
    package init(key: [UInt8], udpIdentifier: UInt8) {
        cipher = DatagramCipher(key: key)
        self.udpIdentifier = udpIdentifier
    }

    /// Looks at a datagram's header alone, which is cheap, and not authenticated.
    ///
    /// - Returns: its counter, if it may be that of a new one of the peer's.
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
    /// - Returns: the plaintext, within the datagram's bytes, and whether no newer one was accepted before it.
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

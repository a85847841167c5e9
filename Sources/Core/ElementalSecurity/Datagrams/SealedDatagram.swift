/// How a sealed datagram is laid out: `0xF4`, the UDP identifier, a counter of 48 bits, little-endian, the sealed bytes and a
/// tag of 16.
package enum SealedDatagram {
    /// The first byte. No plain datagram of this framework's begins with it: it is no system element that travels so.
    package static let mark: UInt8 = 0xF4
    /// Before what is sealed; authenticated with it.
    package static let headerByteCount = 8
    /// Behind it.
    package static let tagByteCount = 16
    /// What sealing adds to a datagram.
    package static let overhead = headerByteCount + tagByteCount
    /// The last counter: the connection is made anew before it is used up.
    package static let maximumCounter: UInt64 = 1 << 48 - 1

    /// What the header of a datagram says, which anyone may have written.
    package static func header(_ datagram: UnsafeRawBufferPointer) -> (udpIdentifier: UInt8, counter: UInt64)? {
        guard datagram.count > overhead, datagram[0] == mark else { return nil }
        return (datagram[1], UInt64(littleEndian: datagram.loadUnaligned(as: UInt64.self)) >> 16)
    }
}

/// Seals the datagrams that leave, each with a counter of its own. It allocates nothing.
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
    ///   - datagram: what is sealed, at least a byte.
    ///   - target: ``SealedDatagram/overhead`` bytes more than that; they may not overlap.
    /// - Returns: whether there was a counter left for it.
    package mutating func seal(_ datagram: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer) -> Bool {
        guard counter < SealedDatagram.maximumCounter else { return false }
        counter += 1
        let header = UInt64(SealedDatagram.mark) | UInt64(udpIdentifier) << 8 | counter << 16
        target.storeBytes(of: header.littleEndian, as: UInt64.self)
        cipher.seal(datagram, counter: counter, target)
        return true
    }
}

/// Opens the datagrams that come, each once.
package struct DatagramOpener {
    /// Why a datagram is not taken.
    package enum Refusal: Sendable, Equatable {
        /// It is too short or has another mark.
        case malformed
        /// Its counter was there already, or is too old.
        case replayed
        /// Its tag is wrong: somebody else sealed or changed it.
        case forged
    }

    /// Counters that were taken.
    package private(set) var window = ReplayWindow()
    private let cipher: DatagramCipher
    private let udpIdentifier: UInt8

    /// - Parameter key: 32 bytes.
    package init(key: [UInt8], udpIdentifier: UInt8) {
        cipher = DatagramCipher(key: key)
        self.udpIdentifier = udpIdentifier
    }

    /// Opens a datagram in its place.
    ///
    /// - Returns: what was sealed, within the datagram's bytes, and whether no newer one came before it.
    package mutating func open(
        _ datagram: UnsafeMutableRawBufferPointer
    ) -> Result<(content: UnsafeRawBufferPointer, isNewest: Bool), Refusal> {
        guard let header = SealedDatagram.header(UnsafeRawBufferPointer(datagram)),
            header.udpIdentifier == udpIdentifier
        else { return .failure(.malformed) }
        guard window.allows(header.counter) else { return .failure(.replayed) }
        guard let content = cipher.open(datagram, counter: header.counter) else { return .failure(.forged) }
        let isNewest = header.counter > window.newest
        window.mark(header.counter)
        return .success((content, isNewest))
    }
}

extension DatagramOpener.Refusal: Error {}

/// CPace, a password-authenticated key exchange: without the password, an exchange reveals nothing but whether one
/// guess was right. The suite is CPACE-X25519-SHA512 of the CFRG's draft (draft-irtf-cfrg-cpace), with the transcript
/// of an initiator and a responder.
package struct CPace: Undisclosed {
    /// The message that each end sends in the clear.
    package struct Message: Sendable, Equatable {
        /// A point, 32 bytes.
        package var point: [UInt8]
        /// Data that this end sends. Key confirmation proves that the peer has received it.
        package var associatedData: [UInt8]

        package init(point: [UInt8], associatedData: [UInt8]) {
            self.point = point
            self.associatedData = associatedData
        }
    }

    private static let name = Array("CPace255".utf8)

    /// This end's message.
    package let message: Message
    private let session: [UInt8]
    private var scalar: [UInt8]

    /// Begins an exchange.
    ///
    /// - Parameters:
    ///   - password: the password that both ends share.
    ///   - channel: the data about the connection and both ends that both agree on.
    ///   - session: an identifier unique to this exchange, from both ends.
    ///   - associatedData: data that this end sends with its point.
    ///   - scalar: 32 bytes; only tests pass it.
    package init(
        password: [UInt8], channel: [UInt8], session: [UInt8], associatedData: [UInt8],
        scalar: [UInt8] = Primitives.randomBytes(32)
    ) {
        self.session = session
        self.scalar = scalar
        let generator = Self.generator(password: password, channel: channel, session: session)
        // The generator is not of low order, so the product exists.
        let point = Primitives.x25519(scalar, generator) ?? []
        message = Message(point: point, associatedData: associatedData)
    }

    /// The initiator's key, once the responder has answered.
    ///
    /// - Returns: 64 bytes, or `nil` if the peer's point cannot come from an honest peer.
    package consuming func key(initiatorWith response: Message) -> [UInt8]? {
        key(response.point, initiator: message, responder: response)
    }

    /// The responder's key, from the initiator's message.
    ///
    /// - Returns: 64 bytes, or `nil` if the peer's point cannot come from an honest peer.
    package consuming func key(responderTo initiation: Message) -> [UInt8]? {
        key(initiation.point, initiator: initiation, responder: message)
    }

    private consuming func key(_ point: [UInt8], initiator: Message, responder: Message) -> [UInt8]? {
        defer { Primitives.erase(&scalar) }
        guard let shared = Primitives.x25519(scalar, point) else { return nil }
        let prefix = Self.concatenate([Self.name + Array("_ISK".utf8), session, shared])
        return Primitives.sha512(
            prefix + Self.concatenate([initiator.point, initiator.associatedData])
                + Self.concatenate([responder.point, responder.associatedData]))
    }

    /// The generator derived from the password.
    static func generator(password: [UInt8], channel: [UInt8], session: [UInt8]) -> [UInt8] {
        // Zeros pad the hash's first block, so that the timing reveals nothing about the password's length.
        let block = 128
        let used = concatenate([name]).count + concatenate([password]).count
        let padding = [UInt8](repeating: 0, count: max(0, block - 1 - used))
        let hash = Primitives.sha512(concatenate([name, password, padding, channel, session]))
        return Elligator2.map(Array(hash.prefix(32)))
    }

    /// Prefixes each part with its length (LEB128), so that no two lists give the same bytes: the draft's `lv_cat`.
    package static func concatenate(_ parts: [[UInt8]]) -> [UInt8] {
        var bytes: [UInt8] = []
        for part in parts {
            var length = part.count
            while length >= 0x80 {
                bytes.append(UInt8(length & 0x7F) | 0x80)
                length >>= 7
            }
            bytes.append(UInt8(length))
            bytes += part
        }
        return bytes
    }
}

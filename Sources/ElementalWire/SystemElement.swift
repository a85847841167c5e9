/// The elements below 0, by which the framework itself speaks.
///
/// The first three are the older ElementalController's; the rest are extensions, sent only to a peer that said hello
/// (the client's own hello excepted). The documentation's page on the wire lists the bytes of each.
public enum SystemElement: Int8, Sendable, CaseIterable {
    /// Service to client, first thing after accept: the client's UDP identifier, UInt8; 0 when none is left.
    case udpIdentifier = -1
    /// Client to service, first thing after connect: the client's name, a string.
    case deviceName = -2
    /// Service to client before it closes: the reason, a string.
    case shutdown = -3
    /// Client to service after its name, and back: what the peer can do. See ``Hello``.
    case hello = -4
    /// Service to client whose hello wants it: the catalogue. See ``ElementCatalogue/wireBytes``.
    case catalogue = -5
    /// Either way, over TCP or UDP: bytes to send back, 1 to 1,024 of them.
    case ping = -6
    /// The bytes of a ping, sent back over the transport that brought it.
    case pong = -7
    /// Either way, to a peer that takes pieces: a part of a value too large to be sent in one go. See ``Piece``.
    case piece = -8
    /// Back to who sends pieces: how many of their bytes were taken since the connection began, UInt32, wrapping around.
    case piecesTaken = -9

    /// The most bytes that a ping may carry.
    public static let maximumPingByteCount = 1024
    /// The longest device name taken, in UTF-8 bytes. A longer one is cut.
    public static let maximumNameByteCount = 1024
}

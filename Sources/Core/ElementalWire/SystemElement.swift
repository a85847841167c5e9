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
    /// Service to client that wants to know: a value of the client's was not taken. See ``ValueRefusal``.
    case refused = -11

    /// The most bytes that a ping may carry.
    public static let maximumPingByteCount = 1024
    /// The longest device name taken, in UTF-8 bytes. A longer one is cut.
    public static let maximumNameByteCount = 1024
    /// The longest catalogue taken, in bytes. One of 128 elements with the longest names, units and choices has
    /// 593,666.
    public static let maximumCatalogueByteCount = 1024 * 1024
    /// The longest value that a frame of the system's may announce where the limit for values is lower.
    public static let maximumFrameByteCount = maximumCatalogueByteCount

    /// How many bytes are worth keeping of a value that is announced with this length.
    ///
    /// A long name or text is cut, and of a hello of a later version the known part is enough. Of anything else that is
    /// too long to be what it says nothing is kept; but of a piece enough to tell that it is too long.
    public func keptByteCount(of length: Int) -> Int {
        switch self {
        case .deviceName, .shutdown, .hello: min(length, Self.maximumNameByteCount)
        case .refused: min(length, 2 + Self.maximumNameByteCount)
        case .piece: min(length, Piece.headerByteCount + Piece.maximumByteCount + 1)
        case .udpIdentifier: length == 1 ? length : 0
        case .piecesTaken: length == MemoryLayout<UInt32>.size ? length : 0
        case .ping, .pong: length <= Self.maximumPingByteCount ? length : 0
        case .catalogue: length <= Self.maximumCatalogueByteCount ? length : 0
        }
    }
}

/// The elements below 0, which the framework itself uses.
///
/// The first three are those of the older ElementalController. The others are extensions, sent only to a peer that has
/// sent its hello. The exceptions are the client's own hello and, inside TLS, ``admission`` and ``datagramSecret``. The
/// documentation's page on the wire lists the bytes of each.
package enum SystemElement: Int8, Sendable, CaseIterable {
    /// Service to client, first frame after accept: the client's UDP identifier, UInt8; 0 when none is left.
    case udpIdentifier = -1
    /// Client to service, first frame after connect: the client's name, a string.
    case deviceName = -2
    /// Service to client before it closes: the reason, a string.
    case shutdown = -3
    /// Client to service after its name, and back: what the peer supports. See ``Hello``.
    case hello = -4
    /// Service to client whose hello requests it: the catalogue. See ``ElementCatalogue/wireBytes``.
    case catalogue = -5
    /// Either way, over TCP or UDP: 1 to 1,024 bytes to send back.
    case ping = -6
    /// The bytes of a ping, sent back over the same transport.
    case pong = -7
    /// Either way, to a peer that accepts pieces: a part of a large value. See ``Piece``.
    case piece = -8
    /// To the sender of pieces: how many of their bytes have been received since the connection began, UInt32, wraps
    /// around.
    case piecesTaken = -9
    /// Service to client that requested it: one of the client's values was refused. See ``ValueRefusal``.
    case refused = -11
    /// Either way, only inside TLS and only before -1: identity, permissions and pairing. It never reaches a session,
    /// which treats it as an unexpected element. -12 is not used, because sealed datagrams begin with that byte.
    case admission = -13
    /// Either way, once, only inside TLS: this end's part of the keys of sealed datagrams, an epoch, UInt8, and 32
    /// random bytes. A client sends it before its hello, a service before its answer to the hello.
    case datagramSecret = -14
    /// Either way, over TCP, to a peer that announces it: times of both ends' clocks. See ``ClockFrame``.
    case clock = -16
    /// Either way, over TCP or UDP, to a peer that announces it: a value and its time of measurement. See
    /// ``TimedValue``.
    case timedValue = -17
    /// Over TCP, to a peer that announces it: a client's request for values of the past, and the service's answer. See
    /// ``HistoryRequest`` and ``HistoryAnswer``.
    case history = -18

    /// The system elements that may be sent in datagrams.
    package static let ofDatagrams = [ping.rawValue, pong.rawValue, timedValue.rawValue]

    /// The length of a datagram secret, in bytes.
    package static let datagramSecretByteCount = 33
    /// The maximum length of a ping, in bytes.
    package static let maximumPingByteCount = 1024
    /// The longest device name, in UTF-8 bytes. A longer one is truncated.
    package static let maximumNameByteCount = 1024
    #if hasFeature(Embedded)
    private static let maximumHistoryByteCount = 0
    #else
    private static let maximumHistoryByteCount = HistoryAnswer.maximumByteCount
    #endif
    /// The longest catalogue accepted, in bytes. One of 128 elements with the longest names, units and choices has
    /// 595,458.
    package static let maximumCatalogueByteCount = 1024 * 1024
    /// The longest value that the frame of a system element may announce even if the limit for values is lower.
    package static let maximumFrameByteCount = maximumCatalogueByteCount

    /// The number of bytes to store of a value with this announced length.
    ///
    /// A long name or text is truncated, and of a longer hello of a later version only the known part is stored. Any
    /// other value that is too long to be valid is not stored, except for a piece: enough of it is stored to detect
    /// that it is too long.
    package func keptByteCount(of length: Int) -> Int {
        switch self {
        case .deviceName, .shutdown, .hello: min(length, Self.maximumNameByteCount)
        case .refused: min(length, 2 + Self.maximumNameByteCount)
        case .piece: min(length, Piece.headerByteCount + Piece.maximumByteCount + 1)
        case .udpIdentifier: length == 1 ? length : 0
        case .piecesTaken: length == MemoryLayout<UInt32>.size ? length : 0
        case .ping, .pong: length <= Self.maximumPingByteCount ? length : 0
        case .catalogue: length <= Self.maximumCatalogueByteCount ? length : 0
        case .admission: 0
        case .datagramSecret: length == Self.datagramSecretByteCount ? length : 0
        case .clock: length == ClockFrame.byteCount ? length : 0
        case .history: length <= Self.maximumHistoryByteCount ? length : 0
        case .timedValue: length <= TimedValue.headerByteCount + Envelope.wholeByteCount ? length : 0
        }
    }
}

extension Hello.Features {
    /// Accepts empty strings and data.
    public static let emptyValues = Self(rawValue: 1 << 0)
    /// A service: sends its catalogue to a client that requests it.
    public static let catalogue = Self(rawValue: 1 << 1)
    /// Answers pings.
    public static let ping = Self(rawValue: 1 << 2)
    /// A client: requests the catalogue right after the service's hello, before the first values.
    public static let wantsCatalogue = Self(rawValue: 1 << 3)
    /// Accepts large values in pieces and acknowledges them.
    public static let pieces = Self(rawValue: 1 << 4)
    /// A client: requests an answer when its value is refused. A service: sends it.
    public static let refusals = Self(rawValue: 1 << 5)
    /// A service: answers with the times of its clock. A client: requests them.
    public static let clock = Self(rawValue: 1 << 6)
    /// Accepts values with the time at which they were measured.
    public static let timedValues = Self(rawValue: 1 << 7)
    /// A service: keeps values of elements with a history, and answers requests for them. A client: may send these
    /// requests.
    public static let history = Self(rawValue: 1 << 8)

    /// The features that both a service and a client announce.
    private static let common: Self = [.emptyValues, .ping, .pieces, .refusals, .clock, .timedValues, .history]
    /// The features that a service announces.
    package static let ofService = common.union(.catalogue)
    /// The features that a client announces.
    package static let ofClient = common.union(.wantsCatalogue)
}

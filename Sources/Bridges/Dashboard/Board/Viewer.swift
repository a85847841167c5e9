import ElementalWire
import NIOCore
import Support
internal import WebServer

/// A page that is open in a browser.
final class Viewer {
    let socket: WebSocketConnection
    /// Whether it has sent a hello with a valid token.
    var isAdmitted = false
    var shown: Set<UInt32> = []
    /// The services that it has asked for since the last tick.
    var asked: Set<UInt32>?
    /// The shown services that it has closed since the last tick. If it asks for one again, that one is sent
    /// completely, because the page has kept nothing of it.
    var closed: Set<UInt32> = []
    /// Elements whose newest value the page still lacks, by their services' numbers.
    var due: Board.Due = [:]
    /// Services whose catalogue the page still lacks.
    var dueCatalogues: Set<UInt32> = []
    var isPairing = false
    /// The values that elements get if the page closes before it sets them again.
    var atRest: [ElementPlace: ElementValue] = [:]
    /// When a move was last confirmed, and the number of the newest one that is not confirmed yet.
    var lastAnswer: NIODeadline?
    var unanswered: Int?
    var isListing = false
    /// Whether it still lacks all services' summary values.
    var lacksSummary = false

    /// Limits the plots that are filled for the page: many when it opens a service, then two a second.
    var fills = TokenBucket(capacity: 256, perSecond: 2)

    init(_ socket: WebSocketConnection) { self.socket = socket }

    /// Whether the page has been sent everything that it shows.
    var hasEverything: Bool { due.isEmpty && dueCatalogues.isEmpty && !lacksSummary }

    func forget(_ number: UInt32) {
        shown.remove(number)
        due[number] = nil
        dueCatalogues.remove(number)
    }
}

/// A message with values of several services for a page.
struct ValuesMessage {
    enum Kind: String {
        /// Values of a service that the page shows.
        case values
        /// Summary values, for the list.
        case summary = "telling"
    }

    /// A message of this many bytes takes no further values, so that a page with little room gets at least some of
    /// them.
    private static let size = 128 << 10

    private let kind: Kind
    private var text = ByteBuffer()
    private var last: UInt32?
    private var ages: [(service: UInt32, element: Int8, age: Int)] = []

    init(_ kind: Kind) { self.kind = kind }

    var isFull: Bool { text.readableBytes >= Self.size }

    /// - Parameter age: how many milliseconds ago it was measured; `nil` if that is not known.
    mutating func add(_ value: ByteBuffer, of id: Int8, _ service: UInt32, age: Int? = nil) {
        if last == nil {
            text.writeString("{\"t\":\"\(kind.rawValue)\",\"c\":\(PageMessage.clock),\"v\":{\"\(service)\":{")
        } else if last != service {
            text.writeString("},\"\(service)\":{")
        } else {
            text.writeStaticString(",")
        }
        last = service
        text.writeString("\"\(id)\":")
        text.writeImmutableBuffer(value)
        if let age { ages.append((service, id, age)) }
    }

    /// Returns the message and starts an empty one; `nil` if there are no values.
    mutating func finish() -> EncodedFrame? {
        guard last.take() != nil else { return nil }
        text.writeStaticString("}}")
        for (index, (service, element, age)) in ages.enumerated() {
            text.writeString("\(index == 0 ? ",\"a\":{" : ",")\"\(service)/\(element)\":\(age)")
        }
        text.writeString(ages.isEmpty ? "}" : "}}")
        defer {
            text = ByteBuffer()
            ages = []
        }
        return EncodedFrame(text: text)
    }
}

import ElementalWire
import NIOCore
import Support
internal import WebServer

/// A page that somebody looks at.
final class Viewer {
    let socket: WebSocketConnection
    /// Whether it has said hello, and its token is right.
    var isAdmitted = false
    var shown: Set<UInt32> = []
    /// The services that it asks for, until the next tick.
    var asked: Set<UInt32>?
    /// Of the services that it shows, those that it has closed since the last tick. If it asks for one again, it has kept
    /// nothing of it.
    var closed: Set<UInt32> = []
    /// Elements, by their services' numbers, whose newest value it is yet to be sent.
    var due: Board.Due = [:]
    /// Services whose elements it is yet to be told.
    var dueCatalogues: Set<UInt32> = []
    var isPairing = false
    /// The values that elements get if it closes before it sets them again.
    var atRest: [ElementPlace: ElementValue] = [:]
    /// When a move of it was answered last, and the number of the newest that is yet to be answered.
    var lastAnswer: NIODeadline?
    var unanswered: Int?
    /// Whether it shows the list of services.
    var isListing = false
    /// Whether it is yet to be sent all services' telling values.
    var lacksTelling = false

    /// How many plots are filled for it: many when it opens a service, and few a second afterwards.
    var fills = TokenBucket(capacity: 256, perSecond: 2)

    init(_ socket: WebSocketConnection) { self.socket = socket }

    /// Whether it has been sent everything that it shows.
    var hasEverything: Bool { due.isEmpty && dueCatalogues.isEmpty && !lacksTelling }

    func forget(_ number: UInt32) {
        shown.remove(number)
        due[number] = nil
        dueCatalogues.remove(number)
    }
}

/// Values of any services in a message for a page.
struct ValuesMessage {
    enum Kind: String {
        /// Values of a service that the page shows.
        case values
        /// Telling values, for the list.
        case telling
    }

    /// A message with this many bytes takes no further values, so that a page with little room gets some of them at least.
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

    /// The message, which is empty then; `nil` if it has no values.
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

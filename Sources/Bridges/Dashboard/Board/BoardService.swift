internal import Elemental
internal import ElementalFollowing
import ElementalWire
import NIOCore
internal import WebServer

/// A service as pages see it.
final class BoardService {
    /// How this program stands to the service.
    enum Standing {
        case connecting, connected
        /// The service may let in whom it is paired with, if so.
        case away(String, mayPair: Bool)
        case notPaired(String)
        case identityChanged(String)
        case refused(String)

        /// The standing as pages have it.
        var code: String {
            switch self {
            case .connecting: "connecting"
            case .connected: "connected"
            case .away: "away"
            case .notPaired: "notPaired"
            case .identityChanged: "identityChanged"
            case .refused: "refused"
            }
        }

        /// Why it is so, as a sentence.
        var reason: String? {
            switch self {
            case .connecting, .connected: nil
            case .away(let reason, _), .notPaired(let reason), .identityChanged(let reason), .refused(let reason):
                reason
            }
        }
    }

    /// A value as pages are told it.
    enum Content {
        /// Its JSON.
        case text(ByteBuffer)
        /// The whole message.
        case data(EncodedFrame)
    }

    /// A value as the page keeps it.
    private enum Kept {
        case value(ElementValue)
        /// Of what is too much for a page, its length.
        case length(Int)

        init(_ value: ElementValue) {
            let byteCount = value.wireByteCount
            self =
                switch value {
                case .data where byteCount > BoardService.maximumDataByteCount,
                    .string where byteCount > BoardService.maximumTextByteCount:
                    .length(byteCount)
                default: .value(value)
                }
        }
    }

    /// A value that pages are told.
    private struct Held {
        var value: Kept
        /// What the service said last, while the value is one that a page has set; `nil` inside if it said nothing.
        var earlier: Kept??
        /// The value as it is told, once it is.
        var content: Content?
    }

    /// Longer data is told by its length only, in bytes.
    static let maximumDataByteCount = 2 << 20
    /// Longer texts too.
    static let maximumTextByteCount = 64 << 10

    /// The number by which pages name the service.
    let number: UInt32
    let key: ServiceKey
    var place: ServicePlace?
    var standing = Standing.connecting
    private(set) var device: ElementalDevice?
    /// The elements, once they are known.
    private(set) var catalogue: ElementCatalogue?
    private var values: [Int8: Held] = [:]
    /// The elements whose values came in the present tick.
    private(set) var changed: Set<Int8> = []
    /// Who has set an element since the service refused a value of it last, and under which number of their own.
    private var requests: [Int8: [UInt64: Int?]] = [:]
    private var meter = QualityMeter()
    /// Elements that had a value before the connection was made anew, and have none since.
    private var outdated: Set<Int8> = []
    private var catalogueFrame: EncodedFrame?

    init(_ key: ServiceKey, number: UInt32) {
        self.key = key
        self.number = number
    }

    var isEncrypted: Bool { isConnected && device?.fingerprint != nil }
    /// What the service lets this program do; `nil` if it did not say.
    var role: ElementalWire.Role? { isConnected ? device?.grantedRole : nil }

    private var isConnected: Bool { if case .connected = standing { true } else { false } }

    /// Why it stands as it does, and what to do, as a sentence.
    func reason(_ policy: BoardPolicy) -> String? {
        guard case .identityChanged(let reason) = standing, let remedy = policy.keyRemedy else {
            return standing.reason
        }
        return "\(reason); \(remedy)"
    }

    /// Whether a pairing could give this program more than it has.
    var canPair: Bool {
        switch standing {
        case .notPaired: return true
        case .connected:
            guard let device, device.hello != nil, place?.discovered?.security != .open else { return false }
            guard (device.grantedRole ?? .plain) < .control else { return false }
            // Of a service that is given by its address only what it grants tells whether it is open.
            return place?.discovered != nil || !(catalogue ?? []).contains { $0.access.contains(.write) }
        case .away(_, let mayPair): return mayPair
        case .connecting, .identityChanged, .refused: return false
        }
    }

    /// The service is connected.
    ///
    /// - Returns: whether its elements are others than before.
    func connected(_ device: ElementalDevice, _ catalogue: ElementCatalogue) -> Bool {
        let isOther = self.catalogue != catalogue
        self.device = device
        self.catalogue = catalogue
        catalogueFrame = nil
        standing = .connected
        // Its values follow.
        outdated = isOther ? [] : outdated.union(values.keys)
        values = [:]
        changed = []
        requests = [:]
        return isOther
    }

    /// Takes values that came.
    func take(_ arrivals: Inbox.Arrivals) {
        arrivals.forEach { element, value, isOwn in
            let id = element.id
            guard catalogue?[id: id]?.type == value.type else { return }
            let earlier: Kept?? = isOwn ? .some(values[id].map { $0.earlier ?? .some($0.value) } ?? nil) : nil
            values[id] = Held(value: Kept(value), earlier: earlier)
            outdated.remove(id)
            changed.insert(id)
        }
    }

    /// The values that followed the connection are there: elements without one have none any more.
    func settle() {
        changed.formUnion(outdated.filter { values[$0] == nil })
    }

    /// The service did not take the value of an element that a page has set: it is again what the service said last.
    func takeBack(_ id: Int8) {
        guard let earlier = values[id]?.earlier else { return }
        values[id] = earlier.map { Held(value: $0, earlier: nil) }
        if earlier == nil { outdated.insert(id) }
        changed.insert(id)
    }

    /// The tick is over.
    func endTick() { changed = [] }

    // MARK: - Who sets

    /// The most pages that are told by number that their value was refused.
    private static let maximumRequestCount = 64

    /// A page sets an element.
    func note(_ viewer: UInt64, sets id: Int8, _ number: Int?) {
        guard requests[id, default: [:]].count < Self.maximumRequestCount || requests[id]?[viewer] != nil else {
            return
        }
        requests[id, default: [:]][viewer] = .some(number)
    }

    /// Who may have sent what the service has refused; `nil` if nobody has sent anything.
    func takeRequests(_ id: Int8) -> [UInt64: Int?]? { requests.removeValue(forKey: id) }

    /// How well it is connected.
    func quality(_ now: ContinuousClock.Instant) -> Quality {
        device.map { meter.look(at: $0.statistics, now) } ?? Quality()
    }

    // MARK: - What pages are told

    /// The elements that have a value.
    var ids: some Sequence<Int8> { values.keys }

    /// The elements, if they are known.
    func catalogueMessage(_ policy: BoardPolicy) -> EncodedFrame? {
        guard let catalogue else { return nil }
        let frame = catalogueFrame ?? PageMessage.catalogue(catalogue, of: number, policy)
        catalogueFrame = frame
        return frame
    }

    /// The element's value; `nil` if nothing is to be told of it.
    func content(of id: Int8) -> Content? {
        guard let held = values[id] else { return outdated.contains(id) ? .text(ByteBuffer(string: "null")) : nil }
        if let content = held.content { return content }
        let content: Content
        switch held.value {
        case .length(let byteCount): content = Self.length(byteCount)
        case .value(.data(let bytes)): content = .data(PageMessage.data(bytes, of: number, id))
        case .value(let value):
            content = value.pageText.map { .text(ByteBuffer(string: $0.text)) } ?? Self.length(value.wireByteCount)
        }
        values[id]?.content = content
        return content
    }

    /// What is too much for a page is told by its length.
    private static func length(_ byteCount: Int) -> Content {
        .text(ByteBuffer(string: "{\"bytes\":\(byteCount)}"))
    }
}

extension PageMessage {
    static func service(_ service: BoardService, _ policy: BoardPolicy) -> EncodedFrame {
        let found = service.place?.discovered
        let address: (host: String, port: Int)? =
            if case .address(let host, let port) = service.place { (host, port) } else { nil }
        return frame(
            "service",
            [
                ("key", .integer(Int(service.number))), ("service", .optional(service.key.service)),
                ("name", .string(service.key.name)),
                ("host", .optional(found?.hostName ?? address?.host)),
                ("port", (found?.port ?? address?.port).map { .integer($0) } ?? .null),
                ("security", .optional(found?.security?.rawValue)), ("encrypted", .bool(service.isEncrypted)),
                ("role", .optional(service.role?.rawValue)), ("state", .string(service.standing.code)),
                ("why", .optional(service.reason(policy))),
                ("canPair", .bool(policy.allowsPairing && service.canPair)),
            ])
    }
}

internal import Elemental
internal import ElementalFollowing
import ElementalWire
import NIOCore
internal import WebServer

/// A service in the form in which pages show it.
final class BoardService {
    enum Content {
        /// The value as JSON.
        case text(ByteBuffer)
        /// The whole message.
        case data(EncodedFrame)

        static let none = Content.text(ByteBuffer(string: "null"))

        /// Replaces a value that is too long for a page by its length.
        static func length(_ byteCount: Int) -> Content { .text(ByteBuffer(string: "{\"bytes\":\(byteCount)}")) }
    }

    /// A value, or its form for pages once a page was sent it.
    private enum Held {
        case value(ElementValue)
        case content(Content)
    }

    /// Of longer data, pages receive only the length in bytes.
    static let maximumDataByteCount = 2 << 20
    /// Of longer texts, too.
    static let maximumTextByteCount = 64 << 10

    /// Texts longer than this, in bytes of JSON, are not in the list.
    static let maximumTellingByteCount = 256

    /// The number that identifies the service for pages.
    let number: UInt32
    let key: ServiceKey
    var place: ServicePlace?
    private(set) var state = FollowedState.connecting
    /// When ``code`` changed last.
    private(set) var since = ContinuousClock.now
    private(set) var device: ElementalDevice?
    private(set) var catalogue: ElementCatalogue?
    private var values: [Int8: Held] = [:]
    /// When values were measured.
    private var times: [Int8: ReceivedTime] = [:]
    var changed: Set<Int8> = []
    /// The elements whose values the list shows as the service's summary.
    private(set) var summary: [ElementDefinition] = []
    var summaryIDs: Set<Int8> { Set(summary.map(\.id)) }
    /// Elements whose value was set by a page and is not yet followed by one from the service.
    private var own: Set<Int8> = []
    /// Elements whose value is older than the current connection.
    private var outdated: Set<Int8> = []
    /// Per element: the pages that have set it since the service's last refusal, with their numbers for the request.
    private var requests: [Int8: [UInt64: Int?]] = [:]
    private var meter = QualityMeter()
    private var catalogueFrame: EncodedFrame?

    init(_ key: ServiceKey, number: UInt32) {
        self.key = key
        self.number = number
    }

    var isConnected: Bool { if case .connected = state { true } else { false } }
    var isEncrypted: Bool { isConnected && device?.fingerprint != nil }
    /// The role that the service grants this program; `nil` if it sent none.
    var role: ElementalWire.Role? { isConnected ? device?.grantedRole : nil }

    /// The state's name in messages to pages.
    var code: String {
        switch state {
        case .connecting: "connecting"
        case .connected: "connected"
        case .away: "away"
        case .refused(let problem):
            switch problem.kind {
            case .notPaired: "notPaired"
            case .identityChanged: "identityChanged"
            case .noElements, .turnedAway, .unreachable: "refused"
            }
        case .gone: "gone"
        }
    }

    /// Why the service is not connected, and what to do, as a sentence.
    func reason(_ policy: BoardPolicy) -> String? {
        switch state {
        case .connecting, .connected, .gone: return nil
        case .away(let problem, _): return problem.message
        case .refused(let problem):
            guard problem.kind == .identityChanged, let remedy = policy.keyRemedy else { return problem.message }
            return "\(problem.message); \(remedy)"
        }
    }

    /// Whether a pairing could raise this program's role.
    var canPair: Bool {
        switch state {
        case .connected:
            guard let device, device.hello != nil, place?.discovered?.security != .open else { return false }
            guard (device.grantedRole ?? .plain) < .control else { return false }
            // For a service given by its address, only the granted access shows whether it is open.
            return place?.discovered != nil || !(catalogue ?? []).contains { $0.access.contains(.write) }
        case .away(let problem, _): return problem.kind == .turnedAway
        case .refused(let problem): return problem.kind == .notPaired
        case .connecting, .gone: return false
        }
    }

    /// - Returns: whether its catalogue has changed.
    func take(_ state: FollowedState) -> Bool {
        let before = code
        self.state = state
        if code != before { since = .now }
        guard case .connected(let device, let catalogue) = state else { return false }
        let isOther = self.catalogue != catalogue
        self.device = device
        self.catalogue = catalogue
        catalogueFrame = nil
        if isOther {
            values = [:]
            summary = catalogue.summary
        }
        // The service sends all its values again.
        outdated = Set(values.keys)
        changed = []
        own = []
        requests = [:]
        return isOther
    }

    /// Stores a value that the service has sent or a page has set.
    ///
    /// - Parameter time: when it was measured, if that is known.
    func take(_ value: ElementValue, of id: Int8, at time: ReceivedTime? = nil, isOwn: Bool = false) {
        let byteCount = value.wireByteCount
        switch value {
        case .data where byteCount > Self.maximumDataByteCount, .string where byteCount > Self.maximumTextByteCount:
            values[id] = .content(.length(byteCount))
        default: values[id] = .value(value)
        }
        times[id] = time
        changed.insert(id)
        if isOwn { own.insert(id) } else if !own.isEmpty { own.remove(id) }
        if !outdated.isEmpty { outdated.remove(id) }
    }

    /// Removes the values that the service did not send again after a reconnection.
    func settle() {
        for id in outdated { values[id] = nil }
        changed.formUnion(outdated)
        outdated = []
    }

    /// The maximum number of pages whose request number a refusal returns.
    private static let maximumRequestCount = 64

    /// Stores a value that a page has sent to an element.
    func note(_ value: ElementValue, of element: ElementDefinition, by viewer: UInt64, _ number: Int?) {
        // A value that cannot be read is not shown.
        if element.access.contains(.read) { take(value, of: element.id, isOwn: true) }
        let count = requests[element.id]?.count ?? 0
        guard count < Self.maximumRequestCount || requests[element.id]?[viewer] != nil else { return }
        requests[element.id, default: [:]][viewer] = .some(number)
    }

    /// Handles a refusal by the service. A value that a page has set is no longer shown: the service sends the current
    /// one.
    ///
    /// - Returns: the pages that may have sent the refused value; `nil` if no page has.
    func refuse(_ id: Int8) -> [UInt64: Int?]? {
        guard let senders = requests.removeValue(forKey: id) else { return nil }
        if own.remove(id) != nil {
            values[id] = nil
            changed.insert(id)
        }
        return senders
    }

    /// The elements that have a value.
    var ids: Set<Int8> { Set(values.keys) }

    func quality(_ now: ContinuousClock.Instant) -> Quality {
        device.map { meter.look(at: $0.statistics, now) } ?? Quality()
    }

    func catalogueMessage(_ policy: BoardPolicy) -> EncodedFrame? {
        guard let catalogue else { return nil }
        let frame = catalogueFrame ?? PageMessage.catalogue(catalogue, of: number, policy)
        catalogueFrame = frame
        return frame
    }

    /// How many milliseconds ago an element's value was measured; `nil` if that is not known.
    func age(of id: Int8) -> Int? {
        guard let element = catalogue?[id: id], element.timed, values[id] != nil, !own.contains(id) else { return nil }
        // The first values arrive before the clock offset is known.
        guard let time = times[id] ?? device?.time(of: element) else { return nil }
        return max(0, Int((MeasurementTime.now.microseconds &- time.time.microseconds) / 1000))
    }

    /// An element's value for the list, `null` for a long text.
    func tellingText(of id: Int8) -> ByteBuffer {
        if case .text(let text) = content(of: id), text.readableBytes <= Self.maximumTellingByteCount { return text }
        return ByteBuffer(string: "null")
    }

    func content(of id: Int8) -> Content {
        let content: Content
        switch values[id] {
        case nil: return .none
        case .content(let content): return content
        case .value(.data(let bytes)): content = .data(PageMessage.data(bytes, of: number, id))
        case .value(let value):
            content = value.pageText.map { .text(ByteBuffer(string: $0.text)) } ?? .length(value.wireByteCount)
        }
        values[id] = .content(content)
        return content
    }
}

struct Quality: Sendable, Hashable {
    var roundTrip: Duration?
    /// Values per second from the service and to it, since the last measurement.
    var received = 0.0
    var sent = 0.0
    /// The total of values that were lost or replaced by newer ones.
    var lost = 0
}

struct QualityMeter {
    private var last: (statistics: DeviceStatistics, time: ContinuousClock.Instant)?

    mutating func look(at statistics: DeviceStatistics, _ now: ContinuousClock.Instant) -> Quality {
        defer { last = (statistics, now) }
        var quality = Quality()
        quality.roundTrip = statistics.roundTripTime
        quality.lost = statistics.datagramsDropped + statistics.messagesReplaced + statistics.messagesOutdated
        guard let last, now > last.time else { return quality }
        let seconds = (now - last.time) / .seconds(1)
        // A lower count comes from another device object, which counts from zero.
        quality.received = max(0, Double(statistics.messagesReceived - last.statistics.messagesReceived)) / seconds
        quality.sent = max(0, Double(statistics.messagesSent - last.statistics.messagesSent)) / seconds
        return quality
    }
}

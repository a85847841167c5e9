import ElementalSecurity
import ElementalWire
import NIOCore
import Support

/// The state of a device other than its handlers and outbound queues. One lock guards it, which is never held while
/// user code runs.
struct DeviceState {
    struct Identity {
        var name: String
        var address: SocketAddress?
        var service: String?
        var hello: Hello?
        /// An error if the catalogue cannot be decoded.
        var catalogue: Result<ElementCatalogue, WireError>?
        var udpIdentifier: UInt8 = 0
        var clock: KnownClock?
        var grantedRole: Role?
        /// `nil` if the connection is not encrypted.
        var fingerprint: Fingerprint?
        /// The program's own, or else those that the service announced.
        var elements: ElementTable
    }

    struct Inbound {
        var statistics = DeviceStatistics()
        var roundTripCount = 0
        var pauses: Set<UInt64> = []
        var lastPause: UInt64 = 0
        /// The tokens of the pauses that the program has not undone.
        var userPauses: [UInt64] = []
        var longValues: [Data?] = []
        /// When the newest values of timed elements were measured, in microseconds of the peer's clock.
        var times: [Int8: Int64] = [:]
        /// Elements with a value that a handler could not decode.
        var undecodable = IdentifierSet()
        var keepsLongValues = true
        /// A budget that several devices share; `nil` for no limit.
        var memory: ByteBudget?
        var longByteCount = 0

        mutating func mayKeep(_ byteCount: Int, at position: Int) -> Bool {
            guard keepsLongValues, let memory else { return keepsLongValues }
            let old = position < longValues.count ? longValues[position]?.count ?? 0 : 0
            if memory.replace(old, by: byteCount, own: longByteCount) {
                longByteCount += byteCount - old
                return true
            }
            _ = memory.note(-old, own: 0)
            longByteCount -= old
            return false
        }
    }

    var identity: Identity
    var inbound = Inbound()
    /// Called once, when the device has ended.
    var endings = Registry<@Sendable (DisconnectReason) -> Void>()
    var endReason: DisconnectReason?
    var events = EventSubscribers<DeviceEvent>()
    var pings = Registry<Outcome<Result<ContinuousClock.Instant, ElementalError>>>()
    var historyRequests = Registry<Outcome<Result<HistoryAnswer, ElementalError>>>()
    var undecided = UndecidedValues()
    /// Opens when the service's catalogue has arrived, or will not arrive any more.
    var catalogueSettled = Latch()
    var reconnectionCount = 0
    /// The counts at the last metrics report.
    var metricsTaken = MetricsSample()
}

/// Counts a client's values that the service has not decided on yet, and keeps the pings that follow them: the answer
/// to a ping means that all refusals of earlier values have been sent.
struct UndecidedValues {
    /// Pings beyond this number are answered at once.
    static let maximumPingCount = 16

    private var count = 0
    private var pings: [[UInt8]] = []

    mutating func begin() { count += 1 }

    mutating func end() -> [[UInt8]] {
        count -= 1
        guard count == 0 else { return [] }
        defer { pings = [] }
        return pings
    }

    /// Keeps a ping if values before it are undecided. A heartbeat, whose bytes are all zero, is not kept.
    ///
    /// - Returns: whether the ping was kept.
    mutating func keep(_ ping: UnsafeRawBufferPointer) -> Bool {
        guard count > 0, pings.count < Self.maximumPingCount, ping.contains(where: { $0 != 0 }) else { return false }
        pings.append([UInt8](ping))
        return true
    }
}

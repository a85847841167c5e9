#if !hasFeature(Embedded)
/// How many of an element's values a service keeps for clients that ask for them later.
///
/// The oldest are dropped first, as soon as one of the limits is exceeded.
public struct HistoryLimits: Sendable, Hashable {
    /// The maximum length of a value that is kept, in bytes. A longer one is left out, which clients see as a gap.
    public static let maximumValueByteCount = 64 * 1024

    /// The maximum number of values, at least 1; `nil` for no limit.
    public let count: Int?
    /// How long a value is kept, in seconds, at least 1; `nil` for no limit.
    public let seconds: Int?
    /// The maximum memory, in bytes: a value takes its own length and 16 bytes.
    public let byteCount: Int

    /// Creates limits, by default 16 MiB of memory and no maximum count or age.
    ///
    /// - Precondition: each limit is from 1 to 2^32 - 1.
    public init(count: Int? = nil, seconds: Int? = nil, byteCount: Int = 16 << 20) {
        let allowed = 1...Int(UInt32.max)
        precondition(
            [count, seconds, byteCount].allSatisfy { $0.map(allowed.contains) ?? true },
            "a limit of a history is out of range; give a number from 1 to 4294967295")
        (self.count, self.seconds, self.byteCount) = (count, seconds, byteCount)
    }
}

extension HistoryLimits {
    static let wireByteCount: UInt8 = 12

    /// Reads the limits of a catalogue, in which 0 means no limit.
    init?(_ reader: inout ByteReader) {
        guard let count = reader.uint32(), let seconds = reader.uint32(), let byteCount = reader.uint32(), byteCount > 0
        else { return nil }
        self.init(
            count: count == 0 ? nil : Int(count), seconds: seconds == 0 ? nil : Int(seconds), byteCount: Int(byteCount))
    }

    var wireFields: [UInt64] { [UInt64(count ?? 0), UInt64(seconds ?? 0), UInt64(byteCount)] }
}

extension ElementDefinition {
    /// How many values the service keeps; `nil` if it keeps only the newest.
    public final var history: HistoryLimits? { fields.history }

    /// Returns the same element with a history of these limits; with `nil`, without a history.
    public final func withHistory(_ limits: HistoryLimits?) -> ElementDefinition {
        var fields = fields
        fields.history = limits
        return ElementDefinition(fields: fields)
    }

    /// Returns the same element with timed values and a history of these limits.
    package final func withTimesAndHistory(_ limits: HistoryLimits) -> ElementDefinition {
        var fields = fields
        fields.timed = true
        fields.history = limits
        return ElementDefinition(fields: fields)
    }
}

extension Element {
    /// The element with values that the service keeps for clients that ask for them later.
    ///
    /// ```swift
    /// static let temperature = Element<Float>(1, "Temperature", access: .read)
    ///     .withTimes.withHistory(HistoryLimits(seconds: 24 * 3600))
    /// ```
    public func withHistory(_ limits: HistoryLimits) -> Element {
        var fields = fields
        fields.history = limits
        return Element(fields: fields)
    }
}
#endif

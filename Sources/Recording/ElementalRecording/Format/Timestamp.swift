internal import Support

/// Formats a time of the wall clock with microseconds.
package struct Timestamp: Sendable {
    private let microseconds: UInt64

    package init(nanoseconds: UInt64) { microseconds = nanoseconds / 1000 }

    /// ISO 8601 in UTC.
    package var text: String {
        var (seconds, parts) = (time_t(microseconds / 1_000_000), tm())
        gmtime_r(&seconds, &parts)
        let date = String(unsafeUninitializedCapacity: 32) { buffer in
            buffer.withMemoryRebound(to: CChar.self) { text in
                text.baseAddress.map { strftime($0, text.count, "%Y-%m-%dT%H:%M:%S", &parts) } ?? 0
            }
        }
        return "\(date).\(fraction)Z"
    }

    /// Seconds since 1970.
    var seconds: String { "\(microseconds / 1_000_000).\(fraction)" }

    private var fraction: Substring { String(microseconds % 1_000_000 + 1_000_000).dropFirst() }
}

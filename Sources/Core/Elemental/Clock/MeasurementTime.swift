import ElementalWire
import Support

/// A moment on this machine's clock, in microseconds: when a value was measured.
///
/// The clock has run since the machine was started, also while it slept, and setting the time of day does not change it.
public struct MeasurementTime: Sendable, Hashable, Comparable {
    /// Microseconds since the machine was started; negative before that.
    public var microseconds: Int64

    /// Creates a moment this many microseconds after the machine was started.
    public init(microseconds: Int64) { self.microseconds = microseconds }

    /// This moment.
    public static var now: MeasurementTime { MeasurementTime(microseconds: MachineClock.time / 1000) }

    /// Creates a moment from a time of day, by this machine's current setting of it.
    ///
    /// - Parameter seconds: seconds since 1970.
    public init(secondsSince1970 seconds: Double) {
        guard let since1970 = Int64(exactly: (seconds * 1_000_000).rounded()) else { self = .now; return }
        microseconds = since1970 &- MachineClock.day / 1000
    }

    /// Seconds since 1970 by this machine's current setting of the time of day, in whole microseconds.
    package var secondsHere: Double { Double(microseconds &+ MachineClock.day / 1000) / 1_000_000 }

    /// Whether `a` is earlier than `b`.
    public static func < (a: MeasurementTime, b: MeasurementTime) -> Bool { a.microseconds < b.microseconds }
}

/// When a received value was measured, converted from the peer's clock.
///
/// The peer reports it, so nothing that has to be safe may depend on it.
public struct ReceivedTime: Sendable, Hashable {
    /// The moment on this machine's clock.
    public let time: MeasurementTime
    /// The maximum error of ``time``, if the peer is honest.
    public let error: Duration
    /// The moment in seconds since 1970, in whole microseconds; `nil` if neither machine's time of day is synchronised.
    public let secondsSince1970: Double?

    package init(time: MeasurementTime, error: Duration, secondsSince1970: Double?) {
        self.time = time
        self.error = error
        self.secondsSince1970 = secondsSince1970
    }

    /// ``secondsSince1970``, or the moment by this machine's time of day if neither is synchronised.
    package var secondsHere: Double {
        secondsSince1970 ?? time.secondsHere
    }
}

extension TimedValue {
    /// Returns the header and, after it, the value.
    static func bytes(_ id: Int8, _ time: MeasurementTime, _ value: UnsafeRawBufferPointer) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: headerByteCount + value.count) { buffer, count in
            let bytes = UnsafeMutableRawBufferPointer(buffer)
            guard let base = bytes.baseAddress else { return }
            writeHeader(id: id, time: time.microseconds, to: base)
            UnsafeMutableRawBufferPointer(rebasing: bytes[headerByteCount...]).copyMemory(from: value)
            count = bytes.count
        }
    }
}

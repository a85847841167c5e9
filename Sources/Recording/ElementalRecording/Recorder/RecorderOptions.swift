package import Elemental
package import ElementalFollowing
internal import Support

/// What a recorder writes, and its limits.
public struct RecorderOptions: Sendable {
    /// The names of the elements to record, as their services have them; empty for all.
    public var elements: [String] = []
    /// The maximum bytes of the file, including its index; `nil` for no limit. The recording ends before it exceeds
    /// them.
    public var maximumByteCount: UInt64?
    /// The maximum bytes of values that wait for the disk. Values beyond it are not recorded; the file and
    /// ``RecordingSummary/lostCount`` have their number.
    public var maximumPendingByteCount = 8 << 20
    /// The clock: the wall clock's time at the start, in nanoseconds since 1970, and the time since then.
    var clock = RecordingClock()
    /// The maximum time before a value is in the file.
    var interval = Duration.milliseconds(750)
    /// Called on the recorder's thread with the positions that are on the disk, at most once in each ``interval``, and
    /// additionally before the first values of an element are written.
    package var onPositions: (@Sendable (RecordedPositions) -> Void)?

    /// Creates options with the defaults: everything, without a limit.
    public init() {}

    /// The minimum of ``maximumByteCount``.
    public static let smallestMaximumByteCount: UInt64 = 64 << 10
}

/// Where the values of a file end in the histories of their elements.
package struct RecordedPositions: Sendable {
    package struct Position: Sendable {
        package let key: ServiceKey
        /// The element's name.
        package let element: String
        /// The channel of the element's messages.
        package let channel: UInt16
        package let position: HistoryPosition
    }

    /// The wall clock when the recording began, in nanoseconds since 1970. It identifies the file.
    package let start: UInt64
    /// The file's length. Values beyond it are later than the positions.
    package let byteCount: UInt64
    package let positions: [Position]
}

/// The time of a recording: the wall clock's time at the start, plus the time of a monotonic clock that continues while
/// the machine sleeps.
struct RecordingClock: Sendable {
    let name: String
    /// The wall clock at the beginning, in nanoseconds since 1970.
    let start: UInt64
    let elapsed: @Sendable () -> UInt64

    var now: UInt64 { start &+ elapsed() }
}

extension RecordingClock {
    init() {
        let beginning = ContinuousClock.now
        #if canImport(Darwin)
        let name = "mach_continuous_time"
        #else
        let name = "CLOCK_BOOTTIME"
        #endif
        self.init(name: name, start: WallClock.nanoseconds) {
            UInt64(max(0, (ContinuousClock.now - beginning).nanoseconds))
        }
    }
}

package import Elemental
package import ElementalFollowing
internal import Support

/// What a recorder writes, and how much.
public struct RecorderOptions: Sendable {
    /// The names of the elements to record, as their services have them; empty for all.
    public var elements: [String] = []
    /// The most bytes of the file, its index included; `nil` for no limit. The recording ends before it would grow beyond.
    public var maximumByteCount: UInt64?
    /// The most bytes of values that may wait for the disk. What comes while so much waits is not recorded; the file and
    /// ``RecordingSummary/lostCount`` tell how many.
    public var maximumPendingByteCount = 8 << 20
    /// The clock: the time since the recorder was made, and the wall clock's time then, in nanoseconds since 1970.
    var clock = RecordingClock()
    /// How long a value may wait until it is in the file.
    var interval = Duration.milliseconds(750)
    /// Called on the recorder's thread, with what is on the disk by then, at most once in each ``interval``, and before the
    /// first values of an element are written.
    package var onPositions: (@Sendable (RecordedPositions) -> Void)?

    /// The defaults: everything, without a limit.
    public init() {}

    /// The fewest bytes of a file that has a limit.
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

    /// The wall clock when the recording began, in nanoseconds since 1970, by which the file is known again.
    package let start: UInt64
    /// The file's length. Values behind that are later than the positions.
    package let byteCount: UInt64
    package let positions: [Position]
}

/// The time of a recording: the wall clock's when it began, and from then on that of a monotonic clock that goes on while
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

import NIOCore

/// Decides when a connection is read.
///
/// A broker acknowledges each message in a segment of its own. After a burst of a thousand messages these segments
/// would wake the event loop hundreds of times, which costs more than sending the messages. While many acknowledgements
/// are expected, reading pauses for some milliseconds and then reads a whole batch. 2,000 messages a second in two
/// bursts took 1.0 % of a core without the pause and take 0.17 % with it (mosquitto 2.0.11 on the same machine). The
/// pause delays other data from the broker by no more than its length. The socket's buffer holds the data meanwhile,
/// and the broker is not blocked.
///
/// If a broker sends messages and does not read their acknowledgements, reading stops until it does. The
/// acknowledgements would otherwise fill the memory.
struct ReadHold {
    enum Step: Equatable {
        case read
        /// Read after this time.
        case hold(TimeAmount)
        /// Wait until the pause ends or the channel becomes writable.
        case wait
    }

    /// With at most this many messages in flight, reading never pauses: a task may wait for each acknowledgement.
    private static let fewInFlight = 64
    /// The length of a pause: about the time that mosquitto takes for half a burst of a thousand messages.
    private static let pause = TimeAmount.milliseconds(5)
    /// The maximum number of acknowledgement bytes that wait while the network takes nothing.
    private static let maximumUnsent = 64 << 10

    private var isPausing = false
    private var isWanted = false
    private var unsent = 0
    private var isChoked: Bool { unsent > Self.maximumUnsent }

    mutating func read(inFlight: Int) -> Step {
        guard !isPausing, !isChoked else {
            isWanted = true
            return .wait
        }
        guard inFlight > Self.fewInFlight else { return .read }
        isPausing = true
        isWanted = true
        return .hold(Self.pause)
    }

    /// - Returns: whether to read.
    mutating func pauseEnded() -> Bool {
        isPausing = false
        return take()
    }

    mutating func queued(_ count: Int, isWritable: Bool) { unsent = isWritable ? 0 : unsent + count }

    /// - Returns: whether to read.
    mutating func becameWritable() -> Bool {
        unsent = 0
        return take()
    }

    private mutating func take() -> Bool {
        guard isWanted, !isPausing, !isChoked else { return false }
        isWanted = false
        return true
    }
}

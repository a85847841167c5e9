/// How long an answer takes, smoothed, and from it how long to wait before repeating (RFC 6298, in milliseconds).
struct RoundTrip {
    /// Eight times the mean, and four times the mean deviation.
    private var mean8: UInt32 = 0
    private var deviation4: UInt32 = 0
    private var isKnown = false
    private var doublings: UInt32 = 0

    /// The wait before the first answer has been timed.
    private static let first: UInt32 = 200
    /// A USB adapter may hold bytes back for 16 ms each way.
    private static let least: UInt32 = 40
    private static let most: UInt32 = 400

    /// How long an answer takes on average.
    var mean: UInt32 { isKnown ? mean8 / 8 : Self.first / 4 }

    /// How long to wait for an acknowledgement.
    var timeout: UInt32 {
        let wait = isKnown ? mean8 / 8 + max(deviation4, 20) : Self.first
        return min(max(wait, Self.least) << doublings, Self.most)
    }

    /// An answer took so long.
    mutating func add(_ time: UInt32) {
        let time = min(time, Self.most)
        if isKnown {
            let mean = mean8 / 8
            deviation4 = deviation4 - deviation4 / 4 + (time > mean ? time - mean : mean - time)
            mean8 = mean8 - mean + time
        } else {
            mean8 = time * 8
            deviation4 = time * 2
            isKnown = true
        }
    }

    /// No answer came in time: the next wait is twice as long, at most four times. A line has nobody else to make room for.
    mutating func backOff() { if doublings < 2 { doublings += 1 } }

    /// Something was acknowledged.
    mutating func recovered() { doublings = 0 }
}

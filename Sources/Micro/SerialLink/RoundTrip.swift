/// The smoothed round-trip time, and the timeout for a repetition that follows from it (RFC 6298), in milliseconds.
struct RoundTrip {
    /// Eight times the mean, and four times the mean deviation.
    private var mean8: UInt32 = 0
    private var deviation4: UInt32 = 0
    private var isKnown = false
    private var doublings: UInt32 = 0

    /// The timeout before the first answer has been timed.
    private static let first: UInt32 = 200
    /// A USB adapter may hold bytes back for 16 ms each way.
    private static let least: UInt32 = 40
    private static let most: UInt32 = 400

    /// The mean round-trip time.
    var mean: UInt32 { isKnown ? mean8 / 8 : Self.first / 4 }

    /// The time to wait for an acknowledgement.
    var timeout: UInt32 {
        let wait = isKnown ? mean8 / 8 + max(deviation4, 20) : Self.first
        return min(max(wait, Self.least) << doublings, Self.most)
    }

    /// Adds a measured round-trip time.
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

    /// Doubles the timeout after one has passed, to at most four times. A line has no other traffic to make room for.
    mutating func backOff() { if doublings < 2 { doublings += 1 } }

    /// Ends the back-off after an acknowledgement.
    mutating func recovered() { doublings = 0 }
}

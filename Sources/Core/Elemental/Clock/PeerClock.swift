/// How another machine's clock differs from this one's, from exchanges of times with it.
///
/// A message arrives after it was sent. So the other clock is ahead by at least what it showed when a message left there,
/// less what this one showed when that arrived, and at most by what it showed when a message of this end arrived, less
/// what this one showed when that left. Each exchange gives both limits, a round trip apart; they widen with time by
/// ``maximumDrift``, and the narrowest of all count. They hold on any network, if the other end says what its clock shows
/// and neither clock drifts more than that. The estimate lies between them.
struct PeerClock {
    /// How much faster one clock may run than the other: each may be wrong by 100 ppm, and the rest is for corrections.
    static let maximumDrift = 500e-6
    /// The most exchanges that count.
    static let capacity = 64
    /// How long exchanges have to go back, in nanoseconds, before the drift is estimated: queues look like drift before.
    private static let driftSpan = 16e9

    /// The four times of an exchange, in nanoseconds of the clock of whoever observed each.
    struct Exchange: Hashable {
        /// When a message of this end was sent, and received by the other.
        var sent: Int64
        var received: Int64
        /// When a message of the other end was sent, and received here.
        var answered: Int64
        var returned: Int64

        /// The least and the most by which the other clock is ahead.
        fileprivate var least: Int64 { answered &- returned }
        fileprivate var most: Int64 { received &- sent }
    }

    private var exchanges: [Exchange] = []
    /// The difference by all exchanges; `nil` before the first.
    private(set) var reading: PeerClockReading?

    /// Takes another exchange.
    ///
    /// - Returns: whether it can be true: the answer did not take less than no time.
    @discardableResult
    mutating func add(_ exchange: Exchange) -> Bool {
        guard exchange.most >= exchange.least else { return false }
        if exchanges.count == Self.capacity { exchanges.removeFirst() }
        exchanges.append(exchange)
        reading = read()
        if reading == nil {
            // It contradicts what came before: a clock has jumped, or the other end is not honest.
            exchanges = [exchange]
            reading = read()
        }
        return true
    }

    /// Forgets everything: a machine has slept, and its clock was kept by another oscillator meanwhile.
    mutating func reset() { self = PeerClock() }

    /// - Returns: `nil` if the limits contradict each other.
    private func read() -> PeerClockReading? {
        guard let last = exchanges.last else { return nil }
        let (base, now) = (last.least, max(last.returned, last.sent))
        var (least, most) = (-Double.infinity, Double.infinity)
        var shortest = Double.infinity
        for exchange in exchanges {
            let (low, high) = (Double(exchange.least &- base), Double(exchange.most &- base))
            least = max(least, low - Self.maximumDrift * Double(now &- exchange.returned))
            most = min(most, high + Self.maximumDrift * Double(now &- exchange.sent))
            shortest = min(shortest, high - low)
        }
        guard least <= most else { return nil }
        let (offset, drift) = estimate(base, now, shortest)
        return PeerClockReading(
            base: base, time: now, offset: min(max(offset, least), most), drift: drift, least: least, most: most)
    }

    /// The straight line that fits the middles of the exchanges best, those with a short round trip most.
    private func estimate(_ base: Int64, _ now: Int64, _ shortest: Double) -> (offset: Double, drift: Double) {
        // A round trip that is longer by this counts a quarter: 10 µs are what a system's scheduler adds.
        let scale = shortest / 4 + 10_000
        var (sum, sumX, sumY, sumXX, sumXY) = (0.0, 0.0, 0.0, 0.0, 0.0)
        for exchange in exchanges {
            let (low, high) = (Double(exchange.least &- base), Double(exchange.most &- base))
            let excess = 1 + (high - low - shortest) / scale
            let (weight, x, y) = (1 / (excess * excess), Double(exchange.returned &- now), (low + high) / 2)
            sum += weight
            sumX += weight * x
            sumY += weight * y
            sumXX += weight * x * x
            sumXY += weight * x * y
        }
        let (meanX, meanY) = (sumX / sum, sumY / sum)
        let span = Double(now &- (exchanges.first?.returned ?? now))
        let spread = sumXX - sumX * meanX
        guard span >= Self.driftSpan, spread > 0 else { return (meanY, 0) }
        let drift = min(max((sumXY - sumX * meanY) / spread, -Self.maximumDrift), Self.maximumDrift)
        return (meanY - drift * meanX, drift)
    }
}

/// How another machine's clock differs from this one's, at a moment and around it.
struct PeerClockReading: Hashable {
    /// Nanoseconds by which the other clock is ahead, to which the others are added.
    fileprivate let base: Int64
    /// The moment, in nanoseconds of this machine's clock.
    let time: Int64
    fileprivate let offset: Double
    /// Nanoseconds a nanosecond.
    let drift: Double
    fileprivate let least: Double
    fileprivate let most: Double

    /// By how many nanoseconds the other clock is ahead when this machine's shows `time`, and the most by which that is
    /// wrong.
    func offset(at time: Int64) -> (offset: Int64, error: Int64) {
        let age = Double(time &- self.time)
        let spread = PeerClock.maximumDrift * abs(age)
        let (least, most) = (least - spread, most + spread)
        let offset = min(max(offset + drift * age, least), most)
        return (base &+ Self.whole(offset), Self.whole(max(most - offset, offset - least) + 1))
    }

    /// A whole number of nanoseconds; of more than 292 years the largest there is.
    private static func whole(_ number: Double) -> Int64 {
        Int64(exactly: number.rounded(.up)) ?? (number < 0 ? .min : .max)
    }

    /// This machine's time when the other clock shows `time`, in nanoseconds, and the most by which it is wrong.
    func own(of time: Int64) -> (time: Int64, error: Int64) {
        let about = time &- base &- Self.whole(offset)
        let (offset, error) = offset(at: about)
        // It is that of the moment `about`, which may be wrong by the error, and by what the clocks ran apart since the
        // reading. Meanwhile they ran apart by this.
        let age = abs(Double(about &- self.time))
        let rest = Int64((2 * Double(error) + PeerClock.maximumDrift * age) * PeerClock.maximumDrift) + 1
        return (time &- offset, error.addingReportingOverflow(rest).overflow ? .max : error + rest)
    }
}

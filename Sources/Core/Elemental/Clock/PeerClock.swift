/// Estimates the difference between the peer's clock and this machine's from exchanges of times.
///
/// A message arrives after it was sent. Therefore the peer's clock is ahead by at least `answered - returned` and at
/// most `received - sent`. Each exchange gives both limits, a round trip apart. They widen with time by
/// ``maximumDrift``, and the narrowest of all count. They hold on any network, if the peer reports its clock correctly
/// and neither clock drifts more than that. The estimate lies between them.
struct PeerClock {
    /// How much faster one clock may run than the other: each may be wrong by 100 ppm, and the rest is for corrections
    /// of the clocks.
    static let maximumDrift = 500e-6
    /// The maximum number of exchanges that are kept.
    static let capacity = 64
    /// How long exchanges must go back, in nanoseconds, before the drift is estimated: over a shorter time, queueing
    /// delays look like drift.
    private static let driftSpan = 16e9

    /// The four times of an exchange, each in nanoseconds of the clock of the end that observed it.
    struct Exchange: Hashable {
        /// When this end sent a message, and when the peer received it.
        var sent: Int64
        var received: Int64
        /// When the peer sent a message, and when this end received it.
        var answered: Int64
        var returned: Int64

        /// The limits of how far the peer's clock is ahead.
        fileprivate var least: Int64 { answered &- returned }
        fileprivate var most: Int64 { received &- sent }
    }

    private var exchanges: [Exchange] = []
    /// The difference by all exchanges; `nil` before the first.
    private(set) var reading: PeerClockReading?

    /// Adds an exchange.
    ///
    /// - Returns: `false` if it is impossible: its round trip is negative.
    @discardableResult
    mutating func add(_ exchange: Exchange) -> Bool {
        guard exchange.most >= exchange.least else { return false }
        if exchanges.count == Self.capacity { exchanges.removeFirst() }
        exchanges.append(exchange)
        reading = read()
        if reading == nil {
            // It contradicts the earlier exchanges: a clock has jumped, or the peer is not honest.
            exchanges = [exchange]
            reading = read()
        }
        return true
    }

    /// Discards all exchanges: a machine has slept, and another oscillator kept its clock meanwhile.
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

    /// Fits a straight line to the midpoints of the exchanges, weighted towards those with a short round trip.
    private func estimate(_ base: Int64, _ now: Int64, _ shortest: Double) -> (offset: Double, drift: Double) {
        // A round trip that is longer by this has a quarter of the weight. A system's scheduler adds about 10 µs.
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

/// The difference between the peer's clock and this machine's at one moment, and an estimate for the time around it.
struct PeerClockReading: Hashable {
    /// Nanoseconds by which the peer's clock is ahead; ``offset``, ``least`` and ``most`` are relative to this.
    fileprivate let base: Int64
    /// The moment of the reading, in nanoseconds of this machine's clock.
    let time: Int64
    fileprivate let offset: Double
    /// How much faster the peer's clock runs, in nanoseconds per nanosecond.
    let drift: Double
    fileprivate let least: Double
    fileprivate let most: Double

    /// Returns how many nanoseconds the peer's clock is ahead when this machine's shows `time`, and the maximum error.
    func offset(at time: Int64) -> (offset: Int64, error: Int64) {
        let age = Double(time &- self.time)
        let spread = PeerClock.maximumDrift * abs(age)
        let (least, most) = (least - spread, most + spread)
        let offset = min(max(offset + drift * age, least), most)
        return (base &+ Self.whole(offset), Self.whole(max(most - offset, offset - least) + 1))
    }

    /// Rounds up to whole nanoseconds; beyond 292 years, returns the largest or smallest `Int64`.
    private static func whole(_ number: Double) -> Int64 {
        Int64(exactly: number.rounded(.up)) ?? (number < 0 ? .min : .max)
    }

    /// Returns this machine's time when the peer's clock shows `time`, in nanoseconds, and the maximum error.
    func own(of time: Int64) -> (time: Int64, error: Int64) {
        let about = time &- base &- Self.whole(offset)
        let (offset, error) = offset(at: about)
        // The offset is that of the moment `about`, which is uncertain by the error and by the drift since the reading.
        // `rest` is the maximum drift over that uncertainty.
        let age = abs(Double(about &- self.time))
        let rest = Int64((2 * Double(error) + PeerClock.maximumDrift * age) * PeerClock.maximumDrift) + 1
        return (time &- offset, error.addingReportingOverflow(rest).overflow ? .max : error + rest)
    }
}

internal import NIOCore

/// What may be spent in a time: it fills up as time goes by.
struct Allowance {
    private let most: Double
    private let perSecond: Double
    private var left: Double
    private var last: NIODeadline

    init(_ most: Int, perSecond: Int, at now: NIODeadline) {
        self.most = Double(most)
        self.perSecond = Double(perSecond)
        left = Double(most)
        last = now
    }

    /// Whether so much may be spent, which it then is.
    mutating func take(_ amount: Int, at now: NIODeadline) -> Bool {
        if now > last {
            left = min(most, left + Double((now - last).nanoseconds) / 1e9 * perSecond)
            last = now
        }
        guard left >= Double(amount) else { return false }
        left -= Double(amount)
        return true
    }
}

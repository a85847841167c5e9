internal import NIOCore

/// What may be spent in a time: it fills up as time goes by.
struct Allowance {
    private let most: Double
    private let perSecond: Double
    private var left: Double
    private var last: NIODeadline

    /// - Parameter first: how much may be spent at once; `nil` for the most.
    init(_ most: Int, perSecond: Int, first: Int? = nil, at now: NIODeadline) {
        self.most = Double(most)
        self.perSecond = Double(perSecond)
        left = Double(first ?? most)
        last = now
    }

    /// Raises what may be spent.
    mutating func add(_ amount: Int) { left = min(most, left + Double(amount)) }

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

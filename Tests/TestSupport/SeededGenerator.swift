/// SplitMix64 (Steele and others 2014): a generator whose run can be repeated from its seed.
public struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    public init(seed: UInt64) { state = seed }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

extension SeededGenerator {
    /// True with that probability.
    public mutating func happens(_ probability: Double) -> Bool {
        probability > 0 && Double(next() >> 11) * 0x1p-53 < probability
    }

    /// True once in `count` times, on average.
    public mutating func once(in count: Int) -> Bool { Int.random(in: 0..<count, using: &self) == 0 }

    public mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }
}

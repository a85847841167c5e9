package import ElementalWire

// Numbers from other programs for integer elements: rounded to the nearest integer, halves away from zero, because
// faders and home automation compute with fractions. A number beyond 128 bits becomes the nearest limit.
extension Int128 {
    /// - Returns: `nil` for NaN.
    package init?(rounding number: Double) {
        guard !number.isNaN else { return nil }
        self = Int128(exactly: number.rounded()) ?? (number < 0 ? .min : .max)
    }

    /// - Parameter text: a number in decimal, such as `21.5` or `-1e3`.
    /// - Returns: `nil` for anything else.
    package init?(rounding text: String) {
        var text = Substring(text).drop { $0 == " " }
        while text.last == " " { text.removeLast() }
        // `Double` also accepts hexadecimal digits, "inf" and "nan".
        guard text.utf8.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }), let number = Double(text) else {
            return nil
        }
        // A double does not hold all digits of 64 bits, so text without an exponent is rounded as text.
        let halves = text.drop { $0 == "-" || $0 == "+" }.split(separator: ".", omittingEmptySubsequences: false)
        guard let whole = halves[0].isEmpty ? 0 : UInt64(halves[0]), !text.contains(where: \.isLetter) else {
            self.init(rounding: number)
            return
        }
        let isUp = halves.count > 1 && halves[1].first.map { $0 >= "5" } ?? false
        let magnitude = Int128(whole) + (isUp ? 1 : 0)
        self = number < 0 ? -magnitude : magnitude
    }
}

extension ElementType {
    /// The number of floats in a value; `nil` for a type that does not consist of several floats.
    package var floatCount: Int? { isVector || self == .float4x4 ? fixedByteCount.map { $0 / 4 } : nil }
}

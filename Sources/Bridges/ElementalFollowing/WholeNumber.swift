package import ElementalWire

/// A number from outside for an element of integers, rounded to the nearest whole number, halves away from zero.
///
/// Faders and home automation compute with fractions.
package struct WholeNumber: Sendable {
    private let isNegative: Bool
    /// `nil` beyond 64 bits.
    private let magnitude: UInt64?

    private init(isNegative: Bool, magnitude: UInt64?) {
        self.isNegative = isNegative
        self.magnitude = magnitude
    }

    /// - Returns: `nil` if it is not a number.
    package init?(rounding number: Double) {
        guard !number.isNaN else { return nil }
        self.init(isNegative: number < 0, magnitude: UInt64(exactly: number.magnitude.rounded()))
    }

    /// - Parameter text: a number in decimal, such as `21.5` or `-1e3`.
    /// - Returns: `nil` for anything else.
    package init?(rounding text: String) {
        var text = Substring(text).drop { $0 == " " }
        while text.last == " " { text.removeLast() }
        // `Double` reads hexadecimal, "inf" and "nan" too.
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
        let rounded = whole.addingReportingOverflow(isUp ? 1 : 0)
        self.init(isNegative: number < 0, magnitude: rounded.overflow ? nil : rounded.partialValue)
    }

    /// The number in decimal; `nil` beyond 64 bits.
    package var digits: String? { magnitude.map { isNegative && $0 > 0 ? "-\($0)" : "\($0)" } }

    /// The number, or what the type has nearest to it.
    package func clamped<Integer: FixedWidthInteger>() -> Integer {
        digits.flatMap { Integer($0) } ?? (isNegative ? .min : .max)
    }
}

extension ElementType {
    /// How many floats a value has; `nil` for a type that is not made of several floats.
    package var floatCount: Int? {
        switch self {
        case .float2: 2
        case .float3: 3
        case .float4: 4
        case .float4x4: 16
        default: nil
        }
    }
}

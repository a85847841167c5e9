/// A number from outside for an element of integers: the nearest whole one, halves away from zero.
///
/// Faders and home automation compute with fractions. Text is rounded digit by digit: a double has not all digits of 64
/// bits.
package struct WholeNumber: Sendable {
    private let isNegative: Bool
    /// `nil` beyond 64 bits.
    private let magnitude: UInt64?

    /// - Returns: `nil` for what is no number.
    package init?(rounding number: Double) {
        guard !number.isNaN else { return nil }
        isNegative = number < 0
        magnitude = UInt64(exactly: number.magnitude.rounded())
    }

    /// - Parameter text: a number in decimal, such as `21.5` or `-1e3`.
    /// - Returns: `nil` for anything else.
    package init?(rounding text: String) {
        var rest = Substring(text).utf8.drop { $0 == UInt8(ascii: " ") }
        while rest.last == UInt8(ascii: " ") { rest.removeLast() }
        isNegative = rest.first == UInt8(ascii: "-")
        if isNegative || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
        func digits() -> [UInt8] {
            let digits = Array(rest.prefix { (0x30...0x39).contains($0) })
            rest.removeFirst(digits.count)
            return digits
        }
        var number = digits()
        // Where the point is in these digits.
        var point = number.count
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            number += digits()
        }
        guard !number.isEmpty else { return nil }
        if let first = rest.first, first | 0x20 == UInt8(ascii: "e") {
            rest.removeFirst()
            let isBelow = rest.first == UInt8(ascii: "-")
            if isBelow || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
            let exponent = digits()
            guard !exponent.isEmpty else { return nil }
            // An exponent of more digits is beyond any number, or makes it 0.
            let size = Int(String(decoding: exponent.drop { $0 == 0x30 }.prefix(9), as: UTF8.self)) ?? 0
            point += isBelow ? -size : size
        }
        guard rest.isEmpty else { return nil }
        let zeros = number.prefix { $0 == 0x30 }.count
        number.removeFirst(zeros)
        point -= zeros
        guard !number.isEmpty, point >= 0 else {
            magnitude = 0
            return
        }
        // 2^64 has 20 digits.
        guard point <= 20 else {
            magnitude = nil
            return
        }
        let zerosBehind = [UInt8](repeating: 0x30, count: max(0, point - number.count))
        let whole = point == 0 ? 0 : UInt64(String(decoding: number.prefix(point) + zerosBehind, as: UTF8.self))
        let isUp = point < number.count && number[point] >= 0x35
        let rounded = whole?.addingReportingOverflow(isUp ? 1 : 0)
        magnitude = rounded.flatMap { $0.overflow ? nil : $0.partialValue }
    }

    /// The number in decimal; `nil` beyond 64 bits.
    package var digits: String? { magnitude.map { isNegative && $0 > 0 ? "-\($0)" : "\($0)" } }

    /// The number, or what the type has nearest to it.
    package func clamped<Integer: FixedWidthInteger>() -> Integer {
        digits.flatMap { Integer($0) } ?? (isNegative ? .min : .max)
    }
}

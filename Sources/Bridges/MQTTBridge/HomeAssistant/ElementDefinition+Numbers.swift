import Elemental
internal import ElementalWire

extension ElementDefinition {
    /// The minimum and the maximum in decimal, from the range, otherwise from the type. Without them Home Assistant
    /// assumes 0 and 100, and drops values outside.
    var bounds: (low: String, high: String) {
        guard let range else { return type.visit(BoundsVisitor()) }
        return (text(range.lowerBound), text(range.upperBound))
    }

    /// Whether Home Assistant cannot set the values as numbers. It computes with doubles, in steps of at least 0.001,
    /// and accepts no range of a single value.
    var mustBeText: Bool {
        guard let range, !isBeyondDoubles else { return isBeyondDoubles }
        let width = range.upperBound - range.lowerBound
        return width == 0 || (!type.isInteger && width < 10 * Self.leastStep)
    }

    private static let leastStep = 0.001

    /// Whether there are values that a double does not hold exactly, of 2^53 and more.
    private var isBeyondDoubles: Bool {
        guard type == .int64 || type == .uint64 else { return false }
        guard let range else { return true }
        let limit = 9_007_199_254_740_992.0
        return range.lowerBound < -limit || range.upperBound > limit
    }

    /// The step of a control in decimal, at least ``leastStep``, the minimum that Home Assistant accepts.
    var controlStep: String {
        if type.isInteger {
            let step = step.map { $0.rounded() } ?? 1
            return Int64(exactly: max(step, 1)).map { String($0) } ?? "1"
        }
        if let step { return text(max(step, Self.leastStep)) }
        guard let range, range.upperBound > range.lowerBound else { return text(Self.leastStep) }
        return text(max(Self.nice((range.upperBound - range.lowerBound) / 1000), Self.leastStep))
    }

    /// The number of decimals of the step, at most 6; `nil` without a step.
    var decimals: Int? {
        guard let step else { return nil }
        var (digits, scaled) = (0, step)
        // A step such as 0.1 is not exact in binary.
        while digits < 6, abs(scaled - scaled.rounded()) > scaled * 1e-6 {
            digits += 1
            scaled *= 10
        }
        return digits
    }

    /// Returns the largest of 1, 2, 5, 10, … (or 0.5, 0.2, …) that is not above the number.
    private static func nice(_ number: Double) -> Double {
        var power = 1.0
        while power > number, power > 1e-6 { power /= 10 }
        while power * 10 <= number, power < 1e300 { power *= 10 }
        return [5, 2].first { $0 * power <= number }.map { $0 * power } ?? power
    }

    private func text(_ number: Double) -> String { type.text(of: number) }

    private struct BoundsVisitor: ElementTypeVisitor {
        func visit<Value: ValueType>(_: String, _: Value.Type) -> (low: String, high: String) {
            switch Value.self {
            case let type as any FixedWidthInteger.Type: ("\(type.min)", "\(type.max)")
            case is Double.Type: ("-1.7976931348623157e+308", "1.7976931348623157e+308")
            default: ("-3.4028235e+38", "3.4028235e+38")
            }
        }
    }
}

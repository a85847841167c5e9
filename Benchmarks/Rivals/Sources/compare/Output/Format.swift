import Foundation

/// Formats numbers for the tables, with a dash for missing ones.
enum Format {
    static let nothing = "–"

    /// About three significant digits.
    static func number(_ value: Double?) -> String {
        guard let value else { return nothing }
        let digits = abs(value) < 9.995 ? 2 : abs(value) < 99.95 ? 1 : 0
        return String(format: "%.\(digits)f", value)
    }

    static func spread(_ summary: Summary?) -> String {
        guard let summary else { return "" }
        return "\(number(summary.lowest))–\(number(summary.highest))"
    }

    /// A number of events, in thousands or millions.
    static func count(_ value: Double?) -> String {
        guard let value else { return nothing }
        if value >= 1e6 { return number(value / 1e6) + " M" }
        if value >= 1e3 { return number(value / 1e3) + " k" }
        return number(value)
    }

    static func countSpread(_ summary: Summary?) -> String {
        guard let summary else { return "" }
        return "\(count(summary.lowest))–\(count(summary.highest))"
    }

    static func ratio(_ value: Double?) -> String { small(value) }

    static func share(_ value: Double?) -> String {
        guard let value else { return nothing }
        if value == 0 { return "0" }
        return value < 0.001 ? "<0.1 %" : String(format: "%.1f %%", value * 100)
    }

    static func nanoseconds(_ value: Double?) -> String {
        guard let value else { return nothing }
        return value < 1000 ? "\(number(value)) ns" : "\(number(value / 1000)) µs"
    }

    /// A number that may be near 0, such as allocations per message.
    static func small(_ value: Double?) -> String {
        guard let value else { return nothing }
        return value < 0.0005 ? "0" : value < 0.1 ? String(format: "%.3f", value) : number(value)
    }

    static func with(_ unit: String, _ text: String) -> String { text == nothing ? text : text + unit }

    static func bound(_ bound: Check.Bound) -> String {
        switch bound {
        case .atMost(let value) where value < 0.01: "0"
        case .atMost(let value): "≤ " + String(format: "%g", value)
        case .atLeast(let value): "≥ " + String(format: "%g", value)
        }
    }
}

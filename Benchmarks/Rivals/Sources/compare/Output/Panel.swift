import Foundation

/// One diagram of the picture: groups of horizontal bars, one per contender.
struct Panel {
    struct Group {
        var label: String
        var isOurs: Bool
        /// One bar each; `nil` if not measured.
        var values: [Double?]
    }

    var title: String
    var bars: [Group]
    /// Formats a value for the label of its bar.
    var text: (Double?) -> String

    /// Bars begin at this value, with a logarithmic scale if the values differ widely.
    var scale: (lowest: Double, highest: Double, isLogarithmic: Bool)? {
        let values = bars.flatMap(\.values).compactMap { $0 }.filter { $0 > 0 }
        guard let lowest = values.min(), let highest = values.max() else { return nil }
        guard highest / lowest > 8 else { return (0, highest, false) }
        // Somewhat below the smallest value, so that it has a visible bar.
        return (pow(10, floor(log10(lowest / 1.5))), highest, true)
    }

    /// The length of a value's bar as a fraction of the full length.
    func part(_ value: Double) -> Double {
        guard let scale, value > 0 else { return 0 }
        if !scale.isLogarithmic { return value / scale.highest }
        return log(value / scale.lowest) / log(scale.highest / scale.lowest)
    }
}

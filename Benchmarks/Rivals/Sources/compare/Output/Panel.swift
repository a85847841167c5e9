import Foundation

/// One diagram of the picture: groups of horizontal bars, one a contender.
struct Panel {
    struct Group {
        var label: String
        var isOurs: Bool
        /// One bar each; `nil` for what was not measured.
        var values: [Double?]
    }

    var title: String
    var bars: [Group]
    /// How a value is written beside its bar.
    var text: (Double?) -> String

    /// Bars begin at this value and grow with the logarithm where the values lie far apart.
    var scale: (lowest: Double, highest: Double, isLogarithmic: Bool)? {
        let values = bars.flatMap(\.values).compactMap { $0 }.filter { $0 > 0 }
        guard let lowest = values.min(), let highest = values.max() else { return nil }
        guard highest / lowest > 8 else { return (0, highest, false) }
        // Somewhat below the smallest, so that it has a bar as well.
        return (pow(10, floor(log10(lowest / 1.5))), highest, true)
    }

    /// How much of the full length a value's bar has.
    func part(_ value: Double) -> Double {
        guard let scale, value > 0 else { return 0 }
        if !scale.isLogarithmic { return value / scale.highest }
        return log(value / scale.lowest) / log(scale.highest / scale.lowest)
    }
}

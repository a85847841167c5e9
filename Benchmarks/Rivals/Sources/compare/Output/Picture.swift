import Foundation

/// The panels as an SVG picture that is readable on light and dark backgrounds.
struct Picture {
    var title: String
    var panels: [Panel]

    private static let width = 860.0
    private static let labelWidth = 280.0
    private static let valueWidth = 90.0
    private static let barHeight = 11.0
    private static let barGap = 2.0
    private static let groupGap = 7.0
    private static let titleHeight = 30.0

    private static let style = """
        text { font: 12px system-ui, "Segoe UI", "Helvetica Neue", sans-serif; fill: #57606a }
        .title { font-size: 17px; font-weight: 600 }
        .panel { font-size: 13px; font-weight: 600 }
        .ours { fill: #e8590c } .ours.second { fill: #f4a87c }
        .other { fill: #6c8ebf } .other.second { fill: #a9bedd }
        text.ours { fill: #c2470a; font-weight: 600 } text.other { fill: #57606a }
        @media (prefers-color-scheme: dark) {
            text, text.other { fill: #b1bac4 } text.ours { fill: #ff8a4c }
        }
        """

    var svg: String {
        var y = 34.0
        var body = [text(title, x: 12, y: 24, class: "title")]
        for panel in panels { body += draw(panel, &y) }
        let width = Int(Self.width)
        let height = Int(y + 12)
        let head =
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(width)\" height=\"\(height)\" "
            + "viewBox=\"0 0 \(width) \(height)\" role=\"img\">"
        return ([head, "<style>\(Self.style)</style>"] + body + ["</svg>"]).joined(separator: "\n") + "\n"
    }

    private func draw(_ panel: Panel, _ y: inout Double) -> [String] {
        guard let scale = panel.scale else { return [] }
        y += Self.titleHeight
        var lines = [text(panel.title + (scale.isLogarithmic ? ", logarithmic" : ""), x: 12, y: y - 8, class: "panel")]
        let length = Self.width - Self.labelWidth - Self.valueWidth
        for group in panel.bars {
            let height = Double(group.values.count) * (Self.barHeight + Self.barGap)
            let kind = group.isOurs ? "ours" : "other"
            lines.append(
                text(group.label, x: Self.labelWidth - 8, y: y + height / 2 + 3, class: kind + " label", anchor: "end"))
            for (index, value) in group.values.enumerated() {
                let bar = value.map { max(1, panel.part($0) * length) } ?? 0
                let style = kind + (index > 0 ? " second" : "")
                if bar > 0 {
                    lines.append(
                        "<rect x=\"\(round(Self.labelWidth))\" y=\"\(round(y))\" width=\"\(round(bar))\" "
                            + "height=\"\(round(Self.barHeight))\" rx=\"2\" class=\"\(style)\"/>")
                }
                lines.append(text(panel.text(value), x: Self.labelWidth + bar + 6, y: y + 10))
                y += Self.barHeight + Self.barGap
            }
            y += Self.groupGap
        }
        return lines
    }

    private func round(_ value: Double) -> String { String(format: "%.1f", value) }

    private func text(
        _ text: String, x: Double, y: Double, class style: String = "value", anchor: String = "start"
    ) -> String {
        let escaped = text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
        let place = "x=\"\(round(x))\" y=\"\(round(y))\" text-anchor=\"\(anchor)\""
        return "<text \(place) class=\"\(style)\">\(escaped)</text>"
    }
}

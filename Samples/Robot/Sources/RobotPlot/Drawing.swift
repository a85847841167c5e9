import Foundation
import RobotElements

/// Paths seen from above with the course's gates, and below them the batteries over time.
struct Drawing {
    private static let colours = ["#0b62a4", "#d1495b", "#2e8b57", "#8e6c8a"]
    private var body = ""
    private var height = 10

    /// The drawing as an SVG.
    var text: String {
        """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 900 \(height)" font-family="sans-serif" font-size="13">
        <rect width="100%" height="100%" fill="white"/>
        \(body)</svg>

        """
    }

    init(_ drives: [Drive]) {
        for (index, drive) in drives.enumerated() { addTitle("\(drive)", Self.colours[index % Self.colours.count]) }
        let gates = Course.gates.map { ($0.x, $0.y) }
        let poses = drives.map { $0.poses.map { ($0.pose.x, $0.pose.y) } }
        let circles = gates.map { "<circle cx=\"\($0.0)\" cy=\"\($0.1)\" r=\"\(Course.radius)\" fill=\"#f2e8c9\"/>" }
        addPlot(poses, around: poses.joined() + gates, border: 0.3, isTrue: true, circles.joined())
        let batteries = drives.map { $0.battery.map { ($0.time, $0.percent) } }
        addTitle("battery from 100 % on, for \(Int(batteries.joined().map(\.0).max() ?? 0)) s", "black")
        addPlot(batteries, around: batteries.joined() + [(0, 100), (1, 99)], border: 0, isTrue: false)
    }

    private mutating func addTitle(_ text: String, _ colour: String) {
        height += 22
        let escaped = text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
        body += "<text x=\"50\" y=\"\(height)\" fill=\"\(colour)\">\(escaped)</text>\n"
    }

    /// Draws lines in their own unit, which the viewer scales.
    ///
    /// - Parameter isTrue: whether both axes have the same scale.
    private mutating func addPlot(
        _ lines: [[(Double, Double)]], around points: some Sequence<(Double, Double)>, border: Double, isTrue: Bool,
        _ background: String = ""
    ) {
        let (xs, ys) = (points.map(\.0), points.map(\.1))
        let (left, right) = (xs.min()! - border, xs.max()! + border)
        let (bottom, top) = (ys.min()! - border, ys.max()! + border)
        let x = 800 / (right - left)
        let y = isTrue ? min(x, 2000 / (top - bottom)) : 120 / (top - bottom)
        body +=
            "<g transform=\"translate(50 \(height + 10)) scale(\(isTrue ? y : x) \(-y)) translate(\(-left) \(-top))\">"
        body += background
        for (index, line) in lines.enumerated() {
            body += "<polyline fill=\"none\" stroke=\"\(Self.colours[index % Self.colours.count])\" stroke-width=\"2\" "
            body +=
                "vector-effect=\"non-scaling-stroke\" points=\"\(line.map { "\($0),\($1)" }.joined(separator: " "))\"/>"
        }
        body += "</g>\n"
        height += Int(y * (top - bottom)) + 20
    }
}

public import Foundation
public import RobotElements

/// What a robot on the course sees: a chequered floor, and a pole in each gate.
public enum Camera {
    /// The picture's size in pixels.
    public static let width = 160
    public static let height = 120
    /// Pixels from the middle that one metre has at a distance of one metre.
    private static let focus = 110.0
    /// Metres above the floor.
    private static let elevation = 0.25
    private static let poleHeight = 0.4
    private static let nearest = 0.1

    /// The colours of the picture's bytes: blue, green, red.
    private static let palette: [(UInt8, UInt8, UInt8)] = [
        (235, 206, 180), (70, 80, 70), (120, 135, 120), (50, 60, 220), (40, 160, 240), (90, 180, 60), (200, 110, 40),
    ]

    /// A picture as a BMP file with a palette, a byte a pixel: what needs no encoder and every browser shows.
    public static func picture(at pose: Pose) -> Data {
        var pixels = [UInt8](repeating: 0, count: width * height)
        let (c, s) = (cos(pose.heading), sin(pose.heading))
        for row in 0..<height / 2 {
            // BMP has its lowest row first.
            let distance = elevation * focus / (Double(height / 2 - row) - 0.5)
            for column in 0..<width {
                let left = Double(width / 2 - column) * distance / focus
                let x = pose.x + distance * c - left * s
                let y = pose.y + distance * s + left * c
                let isOdd = ((x * 2).rounded(.down) + (y * 2).rounded(.down)).truncatingRemainder(dividingBy: 2) != 0
                pixels[row * width + column] = isOdd ? 2 : 1
            }
        }
        for (number, gate) in Course.gates.enumerated() {
            let (dx, dy) = (gate.x - pose.x, gate.y - pose.y)
            let (forward, left) = (dx * c + dy * s, dy * c - dx * s)
            guard forward > nearest, (forward - left).isFinite else { continue }
            let middle = Double(width / 2) - left / forward * focus
            let half = max(0.5, 0.02 * focus / forward)
            let foot = Double(height / 2) - elevation * focus / forward
            fill(
                &pixels, columns: middle - half, to: middle + half, rows: foot, to: foot + poleHeight * focus / forward,
                UInt8(3 + number % 4))
        }
        return file(pixels)
    }

    private static func fill(
        _ pixels: inout [UInt8], columns left: Double, to right: Double, rows bottom: Double, to top: Double,
        _ colour: UInt8
    ) {
        func clamp(_ value: Double, _ count: Int) -> Int { Int(min(max(value, 0), Double(count))) }
        for row in clamp(bottom, height)..<clamp(top, height) {
            for column in clamp(left, width)..<clamp(right, width) { pixels[row * width + column] = colour }
        }
    }

    private static func file(_ pixels: [UInt8]) -> Data {
        let start = 14 + 40 + 4 * palette.count
        var data = Data("BM".utf8)
        func add(_ number: Int, _ byteCount: Int) {
            for byte in 0..<byteCount { data.append(UInt8(truncatingIfNeeded: number >> (8 * byte))) }
        }
        for number in [start + pixels.count, 0, start, 40, width, height] { add(number, 4) }
        // One plane, 8 bits a pixel, not compressed, no resolution.
        add(1, 2)
        add(8, 2)
        for number in [0, pixels.count, 0, 0, palette.count, 0] { add(number, 4) }
        for (blue, green, red) in palette { data.append(contentsOf: [blue, green, red, 0]) }
        data.append(contentsOf: pixels)
        return data
    }
}

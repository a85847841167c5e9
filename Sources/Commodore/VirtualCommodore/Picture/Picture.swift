import PETSCII

/// A picture of the screen with its border, as a television would show it: 384 by 272 points of 16 colours.
public struct Picture: Sendable, Hashable {
    /// The picture's width in points.
    public static let width = 384
    /// The picture's height in points.
    public static let height = 272

    /// The points' colours, 0...15, row after row from the top.
    public private(set) var points: [UInt8]

    init(border: UInt8) {
        points = [UInt8](repeating: border, count: Self.width * Self.height)
    }

    /// A point's colour.
    public subscript(x: Int, y: Int) -> Colour { Colour(nibble: points[y * Self.width + x]) }

    mutating func set(_ x: Int, _ y: Int, _ colour: UInt8) { points[y * Self.width + x] = colour }

    /// The picture as a PNG file with a palette.
    ///
    /// - Parameter scale: how many pixels of the file represent one of the picture, in both directions, 1...8.
    public func png(scale: Int = 1) -> [UInt8] {
        let scale = min(max(scale, 1), 8)
        var rows: [UInt8] = []
        rows.reserveCapacity(Self.height * scale * (Self.width * scale / 2 + 1))
        for y in 0..<Self.height {
            // Each row begins with its filter, 0 for none; two pixels share a byte.
            var row: [UInt8] = [0]
            for x in stride(from: 0, to: Self.width * scale, by: 2) {
                row.append(points[y * Self.width + x / scale] << 4 | points[y * Self.width + (x + 1) / scale])
            }
            for _ in 0..<scale { rows += row }
        }
        return PNG.file(
            width: Self.width * scale, height: Self.height * scale, palette: Colour.allCases.map(\.rgb), rows)
    }
}

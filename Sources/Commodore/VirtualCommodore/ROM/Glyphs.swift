/// The shapes of the characters, drawn for this project: 8 by 8 pixels each, `#` for a pixel of the character's
/// colour. Eight characters are side by side; rows of characters are separated by an empty line.
enum Glyphs {
    /// The points of each character in the order of the drawing: 8 bytes each, the leftmost point in bit 7.
    static func bytes(_ drawing: String) -> [UInt8] {
        var result: [UInt8] = []
        for band in drawing.split(separator: "\n", omittingEmptySubsequences: false).split(separator: "") {
            let rows = band.map { $0.split(separator: " ") }
            for column in rows[0].indices {
                for row in rows { result.append(byte(row[column])) }
            }
        }
        return result
    }

    private static func byte(_ points: Substring) -> UInt8 {
        points.utf8.reduce(0) { $0 << 1 | ($1 == UInt8(ascii: "#") ? 1 : 0) }
    }
}

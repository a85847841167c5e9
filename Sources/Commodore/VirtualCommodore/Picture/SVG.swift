import PETSCII

extension Picture {
    /// The picture as an SVG drawing: text that can be read, compared and scaled.
    ///
    /// The colour of most points of an 8 by 8 cell becomes a rectangle over as many cells as possible. The rest of a
    /// cell is drawn as shapes; the file contains each shape once.
    public func svg() -> String {
        var drawing = Drawing(self)
        return drawing.text()
    }
}

/// Turns a picture into the text of an SVG file.
private struct Drawing {
    private static let columns = Picture.width / 8
    /// The cells are those of the screen's characters, whose first row begins 36 points below the picture's edge: only half
    /// of the first and the last row of cells is visible.
    private static let rows = Picture.height / 8 + 1
    private static let top = -4

    /// A shape within a cell: a bit for each point, from the upper left one in bit 63.
    private typealias Shape = UInt64

    private let picture: Picture
    /// The colour of most points of each cell.
    private var grounds: [UInt8] = []
    private var names: [Shape: String] = [:]
    private var definitions = ""
    private var uses = ""

    init(_ picture: Picture) { self.picture = picture }

    mutating func text() -> String {
        for row in 0..<Self.rows {
            for column in 0..<Self.columns { addCell(column, row) }
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(Picture.width * 2)" height="\(Picture.height * 2)" \
            viewBox="0 0 \(Picture.width) \(Picture.height)" shape-rendering="crispEdges">
            <defs>
            \(definitions)</defs>
            \(rectangles())\(uses)</svg>

            """
    }

    private mutating func addCell(_ column: Int, _ row: Int) {
        var shapes = [Shape](repeating: 0, count: 16)
        for y in 0..<8 {
            for x in 0..<8 {
                let line = min(max(row * 8 + y + Self.top, 0), Picture.height - 1)
                let colour = picture.points[line * Picture.width + column * 8 + x]
                shapes[Int(colour)] |= 1 << Shape(63 - y * 8 - x)
            }
        }
        var ground = 0
        for colour in shapes.indices where shapes[colour].nonzeroBitCount > shapes[ground].nonzeroBitCount {
            ground = colour
        }
        grounds.append(UInt8(ground))
        for (colour, shape) in shapes.enumerated() where shape != 0 && colour != ground {
            uses += "<use href=\"#\(name(of: shape))\" x=\"\(column * 8)\" y=\"\(row * 8 + Self.top)\""
            uses += " fill=\"\(Self.hexadecimal(colour))\"/>\n"
        }
    }

    private mutating func name(of shape: Shape) -> String {
        if let name = names[shape] { return name }
        let name = "s\(names.count)"
        names[shape] = name
        definitions += "<path id=\"\(name)\" d=\""
        for y in 0..<8 {
            var x = 0
            while x < 8 {
                let start = x
                while x < 8 && shape >> Shape(63 - y * 8 - x) & 1 == 1 { x += 1 }
                if x > start { definitions += "M\(start) \(y)h\(x - start)v1h-\(x - start)z" }
                x += 1
            }
        }
        definitions += "\"/>\n"
        return name
    }

    /// The backgrounds of the cells: rectangles as wide as possible, then as high as possible.
    private func rectangles() -> String {
        var isDone = [Bool](repeating: false, count: grounds.count)
        var text = ""
        for start in grounds.indices where !isDone[start] {
            let colour = grounds[start]
            let column = start % Self.columns
            var width = 1
            while column + width < Self.columns, grounds[start + width] == colour, !isDone[start + width] { width += 1 }
            var height = 1
            while start + height * Self.columns < grounds.count {
                let row = start + height * Self.columns
                guard (row..<row + width).allSatisfy({ grounds[$0] == colour && !isDone[$0] }) else { break }
                height += 1
            }
            for row in 0..<height {
                for cell in 0..<width { isDone[start + row * Self.columns + cell] = true }
            }
            text += "<rect x=\"\(column * 8)\" y=\"\(start / Self.columns * 8 + Self.top)\" width=\"\(width * 8)\""
            text += " height=\"\(height * 8)\" fill=\"\(Self.hexadecimal(Int(colour)))\"/>\n"
        }
        return text
    }

    private static func hexadecimal(_ colour: Int) -> String {
        let digits = String(Colour(nibble: UInt8(colour)).rgb, radix: 16)
        return "#" + String(repeating: "0", count: 6 - digits.count) + digits
    }
}

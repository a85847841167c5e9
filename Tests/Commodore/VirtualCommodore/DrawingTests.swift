import PETSCII
import TestSupport
import Testing
import VirtualCommodore

struct DrawingTests {
    /// Every character in random colours on a random background, and a sprite over it: drawn again from the file's text,
    /// point for point.
    @Test(arguments: 1...4)
    func theDrawingIsThePicture(_ seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let commodore = try Commodore64.idle()
        for place in UInt16(0)..<1000 where seed < 4 || place < 80 {
            commodore[0x0400 + place] = UInt8.random(in: 0...255, using: &generator)
            commodore[0xD800 + place] = UInt8.random(in: 0...15, using: &generator)
        }
        for place in UInt16(0)..<63 { commodore[0x0340 + place] = UInt8.random(in: 0...255, using: &generator) }
        commodore[0x07F8] = 13
        commodore[0xD000] = 101
        commodore[0xD001] = 99
        commodore[0xD015] = 1
        commodore[0xD020] = UInt8(seed)
        commodore[0xD021] = UInt8(seed + 5)
        commodore.runFrame()
        let picture = commodore.picture()
        #expect(try Self.draw(picture.svg()) == picture.points)
    }

    @Test
    func anEmptyScreenIsAFewRectangles() {
        let drawing = Commodore64().picture().svg()
        #expect(drawing.split(separator: "\n").filter { $0.hasPrefix("<rect") }.count <= 5)
        #expect(!drawing.contains("<use"))
    }

    /// Draws rectangles and shapes in the order in which they stand in the file.
    private static func draw(_ text: String) throws -> [UInt8] {
        let colours = Dictionary(uniqueKeysWithValues: Colour.allCases.map { ($0.rgb, $0.rawValue) })
        var points = [UInt8](repeating: 0xFF, count: Picture.width * Picture.height)
        func fill(_ x: Int, _ y: Int, _ width: Int, _ height: Int, _ colour: UInt8) {
            for row in max(y, 0)..<min(y + height, Picture.height) {
                for column in x..<x + width { points[row * Picture.width + column] = colour }
            }
        }
        var shapes: [String: [(x: Int, y: Int, width: Int)]] = [:]
        for line in text.split(separator: "\n") {
            let attributes = Self.attributes(of: line)
            func number(_ name: String) throws -> Int { try #require(attributes[name].flatMap { Int($0) }) }
            func colour() throws -> UInt8 {
                let digits = try #require(attributes["fill"]).dropFirst()
                return try #require(UInt32(digits, radix: 16).flatMap { colours[$0] })
            }
            if line.hasPrefix("<path") {
                let runs = try #require(attributes["d"]).split(separator: "M").map { run in
                    let numbers = run.split { !$0.isNumber }.compactMap { Int($0) }
                    return (x: numbers[0], y: numbers[1], width: numbers[2])
                }
                shapes[try #require(attributes["id"])] = runs
            } else if line.hasPrefix("<rect") {
                fill(try number("x"), try number("y"), try number("width"), try number("height"), try colour())
            } else if line.hasPrefix("<use") {
                let name = try #require(attributes["href"]).dropFirst()
                for run in try #require(shapes[String(name)]) {
                    fill(try number("x") + run.x, try number("y") + run.y, run.width, 1, try colour())
                }
            }
        }
        return points
    }

    private static func attributes(of line: Substring) -> [String: String] {
        let parts = line.split(separator: "\"", omittingEmptySubsequences: false)
        var attributes: [String: String] = [:]
        for index in stride(from: 0, to: parts.count - 1, by: 2) {
            attributes[String(parts[index].drop { $0 != " " }.dropFirst().dropLast())] = String(parts[index + 1])
        }
        return attributes
    }
}

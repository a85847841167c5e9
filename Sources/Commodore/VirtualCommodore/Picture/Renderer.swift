/// Renders the video chip's picture.
struct Renderer {
    private static let displayWidth = 320
    private static let displayHeight = 200
    /// Where the display begins in the picture.
    private static let left = (Picture.width - displayWidth) / 2
    private static let top = (Picture.height - displayHeight) / 2
    /// A sprite at these coordinates is in the display's upper left corner.
    private static let spriteOrigin = (x: 24, y: 50)

    /// The part of the display that the border leaves free.
    private let columns: Range<Int>
    private let rows: Range<Int>

    init(_ memory: VideoSnapshot) {
        // The narrower display begins 7 points later and ends 9 earlier, the lower one 4 and 4.
        columns = memory.video.hasAllColumns ? 0..<Self.displayWidth : 7..<Self.displayWidth - 9
        rows = memory.video.hasAllRows ? 0..<Self.displayHeight : 4..<Self.displayHeight - 4
    }

    func picture(_ memory: VideoSnapshot) -> Picture {
        var picture = Picture(border: memory.video.colour(0x20))
        guard memory.video.isDisplayOn else { return picture }
        var line = DisplayLine(width: Self.displayWidth)
        for y in rows {
            line.clear(memory.video.colour(0x21))
            draw(y - memory.video.scrollY + 3, into: &line, memory)
            for sprite in (0..<8).reversed() { drawSprite(sprite, y, into: &line, memory) }
            for x in columns { picture.set(Self.left + x, Self.top + y, line.colours[x]) }
        }
        return picture
    }

    /// Draws one line of text or bitmap.
    private func draw(_ y: Int, into line: inout DisplayLine, _ memory: VideoSnapshot) {
        guard (0..<Self.displayHeight).contains(y) else { return }
        let video = memory.video
        guard !video.isExtendedColour || !(video.isBitmap || video.isMulticolour) else { return line.clear(0) }
        for column in 0..<40 {
            let index = y / 8 * 40 + column
            let code = memory.read(video.screenOffset + UInt16(index))
            let colour = memory.colours[index]
            let x = column * 8 + video.scrollX
            if video.isBitmap {
                let bits = memory.read(video.bitmapOffset + UInt16(index * 8 + y % 8))
                if video.isMulticolour {
                    line.drawPairs(bits, at: x, video.colour(0x21), code >> 4, code & 0x0F, colour)
                } else {
                    line.draw(bits, at: x, foreground: code >> 4, background: code & 0x0F)
                }
                continue
            }
            let shape = video.isExtendedColour ? code & 0x3F : code
            let bits = memory.read(video.characterOffset + UInt16(shape) * 8 + UInt16(y % 8))
            if video.isMulticolour && colour & 0x08 != 0 {
                line.drawPairs(
                    bits, at: x, video.colour(0x21), video.colour(0x22), video.colour(0x23), colour & 0x07)
            } else {
                let background = video.isExtendedColour ? video.colour(0x21 + Int(code >> 6)) : video.colour(0x21)
                line.draw(bits, at: x, foreground: colour, background: background)
            }
        }
    }

    /// Draws the line of a sprite that is on the given line of the display.
    private func drawSprite(_ sprite: Int, _ y: Int, into line: inout DisplayLine, _ memory: VideoSnapshot) {
        let registers = memory.video.registers
        let bit = UInt8(1) << UInt8(sprite)
        guard registers[0x15] & bit != 0 else { return }
        let isTall = registers[0x17] & bit != 0
        let row = y + Self.spriteOrigin.y - Int(registers[sprite * 2 + 1])
        guard row >= 0, row < (isTall ? 42 : 21) else { return }
        let pointer = memory.read(memory.video.screenOffset + 0x03F8 + UInt16(sprite))
        let data = UInt16(pointer) * 64 + UInt16(isTall ? row / 2 : row) * 3
        let bits = (0..<3).reduce(UInt32(0)) { $0 << 8 | UInt32(memory.read(data + UInt16($1))) }
        let x = Int(registers[sprite * 2]) + (registers[0x10] & bit != 0 ? 256 : 0) - Self.spriteOrigin.x
        let isWide = registers[0x1D] & bit != 0
        let isBehind = registers[0x1B] & bit != 0
        let own = memory.video.colour(0x27 + sprite)
        for point in 0..<24 {
            let colour: UInt8?
            if registers[0x1C] & bit != 0 {
                // Two bits for a pair of points: nothing, the first shared colour, its own, the second shared colour.
                let pair = bits >> UInt32(22 - point / 2 * 2) & 3
                colour = [nil, memory.video.colour(0x25), own, memory.video.colour(0x26)][Int(pair)]
            } else {
                colour = bits >> UInt32(23 - point) & 1 == 1 ? own : nil
            }
            guard let colour else { continue }
            for part in 0..<(isWide ? 2 : 1) {
                line.drawSpritePoint(colour, at: x + (isWide ? point * 2 + part : point), isBehind: isBehind)
            }
        }
    }
}

/// One line of the display while it is drawn.
struct DisplayLine {
    private(set) var colours: [UInt8]
    /// Whether each point is foreground. Some sprites are drawn behind the foreground.
    private var isForeground: [Bool]

    init(width: Int) {
        colours = [UInt8](repeating: 0, count: width)
        isForeground = [Bool](repeating: false, count: width)
    }

    mutating func clear(_ colour: UInt8) {
        for x in colours.indices {
            colours[x] = colour
            isForeground[x] = false
        }
    }

    /// Draws 8 points of two colours.
    mutating func draw(_ bits: UInt8, at x: Int, foreground: UInt8, background: UInt8) {
        for point in 0..<8 where x + point < colours.count {
            let isSet = bits >> UInt8(7 - point) & 1 == 1
            colours[x + point] = isSet ? foreground : background
            isForeground[x + point] = isSet
        }
    }

    /// Draws 4 pairs of points of four colours, of which the last two are foreground.
    mutating func drawPairs(_ bits: UInt8, at x: Int, _ a: UInt8, _ b: UInt8, _ c: UInt8, _ d: UInt8) {
        for point in 0..<8 where x + point < colours.count {
            let pair = bits >> UInt8(6 - point / 2 * 2) & 3
            colours[x + point] = pair == 0 ? a : pair == 1 ? b : pair == 2 ? c : d
            isForeground[x + point] = pair > 1
        }
    }

    mutating func drawSpritePoint(_ colour: UInt8, at x: Int, isBehind: Bool) {
        guard colours.indices.contains(x), !(isBehind && isForeground[x]) else { return }
        colours[x] = colour
    }
}

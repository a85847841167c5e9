/// The square of modules: the patterns by which a reader finds and describes the code, and the codewords between them.
struct Modules: Sendable, Equatable {
    let size: Int
    private var isDark: [Bool]
    /// The modules of patterns, which are not masked.
    private var isReserved: [Bool]

    subscript(_ x: Int, _ y: Int) -> Bool { isDark[y * size + x] }

    init(layout: CodewordLayout, codewords: [UInt8], mask: Int) {
        size = layout.version * 4 + 17
        isDark = [Bool](repeating: false, count: size * size)
        isReserved = isDark
        drawPatterns(layout.version)
        drawFormat(layout.correction, mask)
        drawVersion(layout.version)
        draw(codewords, mask)
    }

    private mutating func set(_ x: Int, _ y: Int, _ dark: Bool) {
        isDark[y * size + x] = dark
        isReserved[y * size + x] = true
    }

    // MARK: - Patterns

    private mutating func drawPatterns(_ version: Int) {
        for index in 0..<size {
            set(6, index, index.isMultiple(of: 2))
            set(index, 6, index.isMultiple(of: 2))
        }
        for (x, y) in [(3, 3), (size - 4, 3), (3, size - 4)] { drawFinder(x, y) }
        let centres = alignmentCentres(version)
        for x in centres {
            for y in centres {
                // Three corners have finders.
                let isCorner = (x == 6 && y == 6) || (x == 6 && y == size - 7) || (x == size - 7 && y == 6)
                if !isCorner { drawAlignment(x, y) }
            }
        }
    }

    /// Draws the finder around this centre, with its light frame.
    private mutating func drawFinder(_ x: Int, _ y: Int) {
        for dy in -4...4 {
            for dx in -4...4 {
                guard (0..<size).contains(x + dx), (0..<size).contains(y + dy) else { continue }
                let distance = max(abs(dx), abs(dy))
                set(x + dx, y + dy, distance != 2 && distance != 4)
            }
        }
    }

    private mutating func drawAlignment(_ x: Int, _ y: Int) {
        for dy in -2...2 { for dx in -2...2 { set(x + dx, y + dy, max(abs(dx), abs(dy)) != 1) } }
    }

    /// The rows and columns of alignment patterns (table E.1).
    private func alignmentCentres(_ version: Int) -> [Int] {
        guard version > 1 else { return [] }
        let count = version / 7 + 2
        let step = version == 32 ? 26 : (version * 4 + count * 2 + 1) / (count * 2 - 2) * 2
        return [6] + (0..<count - 1).map { size - 7 - $0 * step }.reversed()
    }

    /// Draws two copies of the error correction level and the mask, protected by a BCH code (15, 5).
    private mutating func drawFormat(_ correction: QRCode.Correction, _ mask: Int) {
        let data = (correction == .low ? 0b01 : 0b00) << 3 | mask
        var remainder = data
        for _ in 0..<10 { remainder = remainder << 1 ^ (remainder >> 9) * 0x537 }
        let bits = (data << 10 | remainder) ^ 0x5412
        func bit(_ index: Int) -> Bool { bits >> index & 1 == 1 }
        for index in 0...5 { set(8, index, bit(index)) }
        set(8, 7, bit(6))
        set(8, 8, bit(7))
        set(7, 8, bit(8))
        for index in 9..<15 { set(14 - index, 8, bit(index)) }
        for index in 0..<8 { set(size - 1 - index, 8, bit(index)) }
        for index in 8..<15 { set(8, size - 15 + index, bit(index)) }
        set(8, size - 8, true)
    }

    /// Draws two copies of the version, protected by a BCH code (18, 6). Versions below 7 have none.
    private mutating func drawVersion(_ version: Int) {
        guard version >= 7 else { return }
        var remainder = version
        for _ in 0..<12 { remainder = remainder << 1 ^ (remainder >> 11) * 0x1F25 }
        let bits = version << 12 | remainder
        for index in 0..<18 {
            let (a, b) = (size - 11 + index % 3, index / 3)
            set(a, b, bits >> index & 1 == 1)
            set(b, a, bits >> index & 1 == 1)
        }
    }

    // MARK: - Codewords

    /// Draws the masked codewords in columns of two from the right, alternately upwards and downwards.
    private mutating func draw(_ codewords: [UInt8], _ mask: Int) {
        var index = 0
        for column in stride(from: size - 1, to: 0, by: -2) {
            // The vertical timing pattern has a column of its own.
            let right = column <= 6 ? column - 1 : column
            for step in 0..<size {
                let isUpward = (right + 1) & 2 == 0
                let y = isUpward ? size - 1 - step : step
                for x in [right, right - 1] where !isReserved[y * size + x] {
                    // The last modules belong to no codeword and count as light.
                    let dark = index < codewords.count * 8 && codewords[index / 8] >> UInt8(7 - index % 8) & 1 == 1
                    isDark[y * size + x] = dark != Self.isMasked(mask, x, y)
                    index += 1
                }
            }
        }
    }

    private static func isMasked(_ mask: Int, _ x: Int, _ y: Int) -> Bool {
        switch mask {
        case 0: (x + y) % 2 == 0
        case 1: y % 2 == 0
        case 2: x % 3 == 0
        case 3: (x + y) % 3 == 0
        case 4: (x / 3 + y / 2) % 2 == 0
        case 5: x * y % 2 + x * y % 3 == 0
        case 6: (x * y % 2 + x * y % 3) % 2 == 0
        default: ((x + y) % 2 + x * y % 3) % 2 == 0
        }
    }
}

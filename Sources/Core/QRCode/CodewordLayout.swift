/// How a version's codewords are divided into blocks of data and error correction (ISO/IEC 18004, table 9).
struct CodewordLayout {
    let version: Int
    let correction: QRCode.Correction
    /// The number of error correction codewords of each block.
    let correctionCount: Int
    let blockCount: Int
    /// The number of all codewords.
    let totalCount: Int

    private static let correctionCounts: [[Int]] = [
        [
            7, 10, 15, 20, 26, 18, 20, 24, 30, 18, 20, 24, 26, 30, 22, 24, 28, 30, 28, 28, 28, 28, 30, 30, 26, 28, 30,
            30,
            30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30,
        ],
        [
            10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26, 26, 28, 28, 28, 28, 28, 28,
            28,
            28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28,
        ],
    ]
    private static let blockCounts: [[Int]] = [
        [
            1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 4, 6, 6, 6, 6, 7, 8, 8, 9, 9, 10, 12, 12, 12, 13, 14, 15, 16, 17, 18,
            19,
            19, 20, 21, 22, 24, 25,
        ],
        [
            1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16, 17, 17, 18, 20, 21, 23, 25, 26, 28, 29,
            31, 33,
            35, 37, 38, 40, 43, 45, 47, 49,
        ],
    ]

    init(version: Int, correction: QRCode.Correction) {
        self.version = version
        self.correction = correction
        correctionCount = Self.correctionCounts[correction.rawValue][version - 1]
        blockCount = Self.blockCounts[correction.rawValue][version - 1]
        // The modules that the function patterns leave free.
        var bits = (16 * version + 128) * version + 64
        if version >= 2 {
            let side = version / 7 + 2
            bits -= (25 * side - 10) * side - 55
            if version >= 7 { bits -= 36 }
        }
        totalCount = bits / 8
    }

    private var dataCount: Int { totalCount - correctionCount * blockCount }
    /// The width of byte mode's count field, in bits.
    private var lengthBitCount: Int { version < 10 ? 8 : 16 }
    /// The maximum number of bytes that fit after the mode and the count.
    var maximumByteCount: Int { dataCount - (4 + lengthBitCount + 7) / 8 }

    /// The codewords in the order in which they are drawn.
    func codewords(_ bytes: [UInt8]) -> [UInt8] {
        let data = data(bytes)
        let shortCount = dataCount / blockCount
        let longBlocks = dataCount % blockCount
        let code = ReedSolomon(degree: correctionCount)
        var blocks: [(data: ArraySlice<UInt8>, correction: [UInt8])] = []
        var start = 0
        for block in 0..<blockCount {
            let count = shortCount + (block >= blockCount - longBlocks ? 1 : 0)
            let slice = data[start..<start + count]
            blocks.append((slice, code.remainder(slice)))
            start += count
        }
        // Interleaved, so that damage at one place spreads over several blocks.
        var result: [UInt8] = []
        result.reserveCapacity(totalCount)
        for index in 0...shortCount {
            for block in blocks where index < block.data.count {
                result.append(block.data[block.data.startIndex + index])
            }
        }
        for index in 0..<correctionCount { for block in blocks { result.append(block.correction[index]) } }
        return result
    }

    /// The bytes in byte mode, with the terminator and the padding.
    private func data(_ bytes: [UInt8]) -> [UInt8] {
        var bits: [Bool] = []
        bits.reserveCapacity(dataCount * 8)
        func append(_ value: Int, _ count: Int) {
            for shift in (0..<count).reversed() { bits.append(value >> shift & 1 == 1) }
        }
        append(0b0100, 4)
        append(bytes.count, lengthBitCount)
        for byte in bytes { append(Int(byte), 8) }
        append(0, min(4, dataCount * 8 - bits.count))
        append(0, (8 - bits.count % 8) % 8)
        var data = stride(from: 0, to: bits.count, by: 8).map { start in
            bits[start..<start + 8].reduce(UInt8(0)) { $0 << 1 | ($1 ? 1 : 0) }
        }
        for index in 0..<dataCount - data.count { data.append(index.isMultiple(of: 2) ? 0xEC : 0x11) }
        return data
    }
}

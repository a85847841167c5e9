extension Modules {
    /// The penalty score (ISO/IEC 18004, 7.8.3.1). The mask with the lowest score is chosen.
    var penalty: Int {
        var penalty = 0
        var darkCount = 0
        for y in 0..<size {
            var row = Line()
            var column = Line()
            for x in 0..<size {
                row.append(self[x, y])
                column.append(self[y, x])
                if self[x, y] { darkCount += 1 }
                if x > 0, y > 0, self[x, y] == self[x - 1, y], self[x, y] == self[x, y - 1],
                    self[x, y] == self[x - 1, y - 1]
                {
                    penalty += 3
                }
            }
            penalty += row.finished() + column.finished()
        }
        // Ten for each 5 % by which the share of dark modules differs from half.
        let total = size * size
        return penalty + abs(darkCount * 20 - total * 10) / total * 10
    }

    /// A row or column, module by module.
    private struct Line {
        private var penalty = 0
        private var runLength = 0
        private var isDark = false
        /// The last eleven modules; the newest is the lowest bit.
        private var recent = 0
        private var count = 0

        mutating func append(_ dark: Bool) {
            if count > 0, dark == isDark {
                runLength += 1
            } else {
                endRun()
                isDark = dark
                runLength = 1
            }
            recent = (recent << 1 | (dark ? 1 : 0)) & 0x7FF
            count += 1
            // A finder's 1 : 1 : 3 : 1 : 1 beside four light modules.
            if count >= 11, recent == 0b10111010000 || recent == 0b00001011101 { penalty += 40 }
        }

        private mutating func endRun() { if runLength >= 5 { penalty += runLength - 2 } }

        mutating func finished() -> Int {
            endRun()
            return penalty
        }
    }
}

import Foundation
import TestSupport
import Testing

@testable import QRCode

struct QRCodeTests {
    private static let zbar = "/usr/bin/zbarimg"
    private static let python = Repository.path(".build/qrcode/bin/python3")

    private static let link =
        "elemental:pair?service=robot&name=Rover&id=xj4bnp4pahh6uqkbidpf3lrceoyagyndsylxvhfucd7wd4qacwwq"
        + "&secret=abcdefghijklmnopqrstuvwxyz234567"

    /// The smallest version that holds the bytes: the capacities of the standard's table 7.
    @Test(arguments: [
        (QRCode.Correction.low, [17, 32, 53, 78, 106, 134, 154, 192, 230, 271], 2953),
        (.medium, [14, 26, 42, 62, 84, 106, 122, 152, 180, 213], 2331),
    ])
    func theSmallestVersionIsTaken(_ correction: QRCode.Correction, _ capacities: [Int], _ largest: Int) throws {
        for (index, capacity) in capacities.enumerated() {
            let bytes = [UInt8](repeating: 65, count: capacity)
            #expect(QRCode(bytes, correction: correction, mask: 0)?.version == index + 1)
            #expect(QRCode(bytes + [65], correction: correction, mask: 0)?.version == index + 2)
            #expect(QRCode(bytes + [65], correction: correction, versions: 1...index + 1, mask: 0) == nil)
        }
        #expect(QRCode([UInt8](repeating: 65, count: largest), correction: correction, mask: 0)?.version == 40)
        #expect(QRCode([UInt8](repeating: 65, count: largest + 1), correction: correction) == nil)
        #expect(QRCode([], correction: correction)?.version == 1)
    }

    @Test
    func theMaskIsChosenByItsPenalty() throws {
        let bytes = Array(Self.link.utf8)
        let chosen = try #require(QRCode(bytes))
        var masks: Set<Int> = []
        for mask in 0..<8 {
            let code = try #require(QRCode(bytes, mask: mask))
            #expect(code.mask == mask && code.size == chosen.size)
            #expect(code.penalty >= chosen.penalty)
            masks.insert(code.penalty)
        }
        #expect(masks.count > 1)
    }

    /// Every version at both corrections with every mask, against another encoder, module by module.
    @Test(
        .enabled(
            if: FileManager.default.isExecutableFile(atPath: python),
            "qrcode is not there: run Tests/install qrcode (it needs Python 3 and PyPI)"))
    func modulesAreThoseOfAnotherEncoder() async throws {
        var random = SeededGenerator(seed: 7)
        var codes: [QRCode] = []
        var lines: [String] = []
        for correction in QRCode.Correction.allCases {
            for version in QRCode.versions {
                let layout = CodewordLayout(version: version, correction: correction)
                // Full, nearly full and nearly empty codes; in the gate each version has one of them at each correction.
                let counts = [layout.maximumByteCount, layout.maximumByteCount - 1, 2]
                for count in Depth.isAll ? counts : [counts[(version + correction.rawValue) % 3]] {
                    let mask = Int.random(in: 0..<8, using: &random)
                    let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
                    codes.append(
                        try #require(QRCode(bytes, correction: correction, versions: version...version, mask: mask)))
                    let hex = bytes.map { String(UInt16($0) + 256, radix: 16).dropFirst() }.joined()
                    lines.append("\(version) \(correction == .low ? "l" : "m") \(mask) \(hex)")
                }
            }
        }
        for mask in 0..<8 {
            codes.append(try #require(QRCode(Array(Self.link.utf8), mask: mask)))
            let hex = Self.link.utf8.map { String(UInt16($0) + 256, radix: 16).dropFirst() }.joined()
            lines.append("\(codes.last?.version ?? 0) m \(mask) \(hex)")
        }
        let matrices = try await withFolder { folder in
            try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: "\(folder)/codes"))
            return try await ChildProcess.run(
                Self.python, [Repository.path("Tests/Core/QRCode/matrices.py"), "\(folder)/codes"]
            ).split(separator: "\n")
        }
        #expect(matrices.count == codes.count)
        for (code, matrix) in zip(codes, matrices) {
            let own = (0..<code.size).flatMap { y in (0..<code.size).map { x in code[x, y] ? "1" : "0" } }.joined()
            // Not the modules themselves: there are up to 31,329 of them.
            let isSame = own == matrix
            #expect(isSame, "version \(code.version), \(code.correction), mask \(code.mask)")
        }
    }

    /// What a terminal shows is read by a program that reads photographs of such codes.
    @Test(
        .enabled(
            if: FileManager.default.isExecutableFile(atPath: zbar), "zbarimg is not there: it is in Debian's zbar-tools"
        ),
        arguments: [
            "1", link, "elemental:pair?name=K%C3%BCche", String(repeating: "0123456789abcdef", count: 13),
            String(repeating: "Rover ", count: 150),
        ], QRCode.Correction.allCases)
    func aReaderReadsTheTerminal(_ text: String, _ correction: QRCode.Correction) async throws {
        let code = try #require(QRCode(text, correction: correction))
        let rows = try Self.modules(ofTerminal: code.terminalText)
        #expect(rows.count == code.size + 9 && rows.allSatisfy { $0.count == code.size + 8 })
        for (y, row) in rows.enumerated() {
            for (x, dark) in row.enumerated() { #expect(dark == code[x - 4, y - 4]) }
        }
        // A picture with four pixels a module: PBM, in which 1 is black.
        let scale = 4
        var picture = "P1\n\(rows[0].count * scale) \(rows.count * scale)\n"
        for row in rows {
            let line = row.map { String(repeating: $0 ? "1 " : "0 ", count: scale) }.joined() + "\n"
            picture += String(repeating: line, count: scale)
        }
        try await withFolder { folder in
            try Data(picture.utf8).write(to: URL(filePath: "\(folder)/code.pbm"))
            let read = try await ChildProcess.run(Self.zbar, ["--quiet", "--raw", "--nodbus", "\(folder)/code.pbm"])
            #expect(read == text)
        }
    }

    /// The modules that half blocks show, dark on light.
    private static func modules(ofTerminal text: String) throws -> [[Bool]] {
        var rows: [[Bool]] = []
        for line in text.split(separator: "\n") {
            #expect(line.hasPrefix("\u{1B}[30;107m") && line.hasSuffix("\u{1B}[0m"))
            let blocks = line.dropFirst(9).dropLast(4)
            rows.append(blocks.map { "█▀".contains($0) })
            rows.append(blocks.map { "█▄".contains($0) })
        }
        return rows
    }
}

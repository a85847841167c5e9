import Foundation
import PETSCII
import TestSupport
import Testing
import VirtualCommodore

extension Commodore64 {
    static func idle() throws -> Commodore64 {
        let commodore = Commodore64()
        try commodore.start(try Program([0x4C, 0x00, 0xC0], at: 0xC000))
        return commodore
    }
}

struct PictureTests {
    /// The display's upper left corner in the picture.
    private static let left = 32
    private static let top = 36

    @Test
    func borderBackgroundAndACharacterAreWhereTheyBelong() throws {
        let commodore = try Commodore64.idle()
        commodore[0xD020] = 2
        commodore[0xD021] = 5
        // A reversed space in white at the last place.
        commodore[0x0400 + 999] = 0xA0
        commodore[0xD800 + 999] = 1
        let picture = commodore.picture()
        #expect(picture[0, 0] == .red && picture[383, 271] == .red)
        #expect(picture[Self.left - 1, Self.top] == .red && picture[Self.left, Self.top - 1] == .red)
        #expect(picture[Self.left, Self.top] == .green)
        #expect(picture[Self.left + 312, Self.top + 192] == .white)
        #expect(picture[Self.left + 319, Self.top + 199] == .white)
        #expect(picture[Self.left + 320, Self.top + 199] == .red)
        #expect(picture[Self.left + 311, Self.top + 199] == .green)
    }

    @Test
    func theNarrowDisplayHasAWiderBorder() throws {
        let commodore = try Commodore64.idle()
        commodore[0xD020] = 0
        commodore[0xD016] = 0x00
        commodore[0xD011] = 0x13
        let picture = commodore.picture()
        #expect(picture[Self.left + 6, 100] == .black && picture[Self.left + 7, 100] == .blue)
        #expect(picture[Self.left + 310, 100] == .blue && picture[Self.left + 311, 100] == .black)
        #expect(picture[100, Self.top + 3] == .black && picture[100, Self.top + 4] == .blue)
        #expect(picture[100, Self.top + 195] == .blue && picture[100, Self.top + 196] == .black)
    }

    /// A machine with a yellow sprite in the display's upper left corner.
    private func withSprite() throws -> Commodore64 {
        let commodore = try Commodore64.idle()
        for offset in 0..<63 { commodore[0x0340 + UInt16(offset)] = 0xFF }
        commodore[0x07F8] = 0x0D
        commodore[0xD000] = 24
        commodore[0xD001] = 50
        commodore[0xD027] = 7
        commodore[0xD015] = 1
        return commodore
    }

    @Test
    func aSpriteIsShownAtItsPlace() throws {
        let commodore = try withSprite()
        #expect(points(.yellow, commodore) == .init(x: Self.left, y: Self.top, width: 24, height: 21))
        commodore[0xD010] = 1
        commodore[0xD000] = 0
        #expect(points(.yellow, commodore) == .init(x: Self.left + 256 - 24, y: Self.top, width: 24, height: 21))
        commodore[0xD017] = 1
        commodore[0xD01D] = 1
        #expect(points(.yellow, commodore) == .init(x: Self.left + 256 - 24, y: Self.top, width: 48, height: 42))
    }

    @Test
    func aSpriteBehindTheTextShowsInItsBackgroundOnly() throws {
        let commodore = try withSprite()
        commodore[0x0400] = 0xA0
        commodore[0xD800] = 1
        #expect(commodore.picture()[Self.left, Self.top] == .yellow)
        commodore[0xD01B] = 1
        #expect(commodore.picture()[Self.left, Self.top] == .white)
        #expect(commodore.picture()[Self.left + 8, Self.top] == .yellow)
    }

    @Test
    func aProgramsOwnCharactersAreShown() throws {
        let commodore = try Commodore64.idle()
        commodore[0xD018] = 0x1C
        for line in 0..<8 { commodore[0x3000 + 8 + UInt16(line)] = 0x80 }
        commodore[0x0400] = 1
        commodore[0xD800] = 1
        #expect(points(.white, commodore) == .init(x: Self.left, y: Self.top, width: 1, height: 8))
    }

    @Test
    func bitmapsAreShownInBothKinds() throws {
        let commodore = try Commodore64.idle()
        commodore[0xD011] = 0x3B
        commodore[0xD018] = 0x18
        for offset in 0..<8000 { commodore[0x2000 + UInt16(offset)] = 0 }
        for offset in 0..<1000 { commodore[0x0400 + UInt16(offset)] = 0x10 }
        commodore[0x2000] = 0b1100_0000
        #expect(points(.white, commodore) == .init(x: Self.left, y: Self.top, width: 2, height: 1))
        commodore[0xD016] = 0x18
        commodore[0xD800] = 7
        #expect(points(.yellow, commodore) == .init(x: Self.left, y: Self.top, width: 2, height: 1))
    }

    @Test
    func theLettersAreAllDifferent() throws {
        let commodore = try Commodore64.idle()
        for code in 0..<256 { commodore[0x0400 + UInt16(code)] = UInt8(code) }
        // The two spaces look the same. So do, as on a real machine, two pairs of lines in the graphics set.
        for (set, count) in [(0x15, 250), (0x17, 254)] as [(UInt8, Int)] {
            commodore[0xD018] = set
            for code in 0..<256 { commodore[0xD800 + UInt16(code)] = 1 }
            let picture = commodore.picture()
            let shapes = (0..<256).map { code in
                (0..<64).map { point in
                    picture[Self.left + code % 40 * 8 + point % 8, Self.top + code / 40 * 8 + point / 8] == .white
                }
            }
            #expect(Set(shapes).count == count)
            for code in 0..<128 { #expect(shapes[code].map { !$0 } == shapes[code + 128]) }
        }
    }

    private struct Box: Equatable {
        let x: Int, y: Int, width: Int, height: Int
    }

    /// The smallest box around all points of a colour.
    private func points(_ colour: Colour, _ commodore: Commodore64) -> Box {
        let picture = commodore.picture()
        var xs: [Int] = []
        var ys: [Int] = []
        for y in 0..<Picture.height {
            for x in 0..<Picture.width where picture[x, y] == colour {
                xs.append(x)
                ys.append(y)
            }
        }
        guard let left = xs.min(), let right = xs.max(), let top = ys.min(), let bottom = ys.max() else {
            return Box(x: 0, y: 0, width: 0, height: 0)
        }
        return Box(x: left, y: top, width: right - left + 1, height: bottom - top + 1)
    }
}

/// PNG files, decoded by an independent decoder: Python's zlib.
struct PNGTests {
    /// Reads a PNG of 4 bits a point, checks every checksum, and prints its size, palette and points.
    private static let reader = """
        import struct, sys, zlib
        data = open(sys.argv[1], "rb").read()
        assert data[:8] == b"\\x89PNG\\r\\n\\x1a\\n"
        position, chunks = 8, []
        while position < len(data):
            length, kind = struct.unpack(">I4s", data[position:position + 8])
            body = data[position + 8:position + 8 + length]
            assert struct.unpack(">I", data[position + 8 + length:position + 12 + length])[0] == zlib.crc32(kind + body)
            chunks.append((kind, body))
            position += 12 + length
        assert [kind for kind, _ in chunks] == [b"IHDR", b"PLTE", b"IDAT", b"IEND"]
        width, height, depth, colour, *_ = struct.unpack(">IIBBBBB", chunks[0][1])
        assert (depth, colour) == (4, 3)
        rows = zlib.decompress(chunks[2][1])
        stride = (width + 1) // 2 + 1
        assert len(rows) == stride * height and not any(rows[::stride])
        print(width, height, chunks[1][1].hex())
        for y in range(height):
            row = rows[y * stride + 1:(y + 1) * stride]
            print(row.hex())
        """

    @Test(arguments: [1, 2, 3])
    func aPictureComesBackFromItsFile(_ scale: Int) async throws {
        let commodore = try Commodore64.idle()
        var generator = SeededGenerator(seed: 16)
        // Half of the screen is random, which compresses badly; the other half is empty, which compresses well.
        for offset in 0..<500 {
            commodore[0x0400 + UInt16(offset)] = UInt8.random(in: 0...255, using: &generator)
            commodore[0xD800 + UInt16(offset)] = UInt8.random(in: 0...255, using: &generator)
        }
        let picture = commodore.picture()
        let lines = try await withFolder { folder in
            try Data(picture.png(scale: scale)).write(to: URL(filePath: "\(folder)/screen.png"))
            return try await ChildProcess.run("python3", ["-c", Self.reader, "\(folder)/screen.png"])
                .split(separator: "\n")
        }
        let palette = Colour.allCases.map { colour in
            let digits = String(colour.rgb, radix: 16)
            return String(repeating: "0", count: 6 - digits.count) + digits
        }.joined()
        #expect(lines.first.map(String.init) == "\(Picture.width * scale) \(Picture.height * scale) \(palette)")
        #expect(lines.count == Picture.height * scale + 1)
        for (y, line) in lines.dropFirst().enumerated() {
            let expected = (0..<Picture.width * scale).map { x in
                String(picture[x / scale, y / scale].rawValue, radix: 16)
            }
            try #require(String(line) == expected.joined(), "row \(y)")
        }
    }
}

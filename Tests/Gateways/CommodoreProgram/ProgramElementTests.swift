import PETSCII
import TestSupport
import Testing
import VirtualCommodore

@Suite(.enabled(if: CommodoreProgram.isAvailable))
struct ProgramElementTests {
    @Test
    func coloursAreSetAndShown() async throws {
        let bench = try await Bench.connected()
        bench.set(1, [6])
        bench.set(2, [11])
        try bench.run("the colours") {
            $0.commodore.borderColour == .blue && $0.commodore.backgroundColour == .darkGrey
        }
        try bench.run("the panel") { $0.row(3) == "Border  6       Background 11" }
        // Only the lower 4 bits count.
        bench.set(1, [0xF2])
        try bench.run("the colour") { $0.commodore.borderColour == .red }
    }

    @Test
    func textsArePrintedALineEachAndScroll() async throws {
        let bench = try await Bench.connected()
        bench.print("Hello, World!")
        bench.print("")
        bench.print("one\ntwo")
        try bench.settle()
        #expect(bench.window == ["Hello, World!", "", "one", "two"])
        for number in 1...20 { bench.print("line \(number)") }
        try bench.settle()
        #expect(bench.window == (9...20).map { "line \($0)" })
        #expect(bench.row(0) == "Elemental on the Commodore 64" && bench.row(24).hasPrefix(">"))
    }

    @Test
    func longTextsGoOnInTheNextRow() async throws {
        let bench = try await Bench.connected()
        let text = (0..<12).map { "\($0) " + String(repeating: "abcdefghij", count: 3) }.joined(separator: ",")
        // As a gateway splits what is longer than 250 bytes.
        bench.print(String(text.prefix(250)))
        bench.print(String(text.dropFirst(250)))
        bench.print("next")
        try bench.settle()
        let rows = stride(from: 0, to: text.count, by: 40).map { String(text.dropFirst($0).prefix(40)) }
        let expected = rows.map { $0.reversed().drop { $0 == " " }.reversed() }.map { String($0) } + ["next"]
        #expect(bench.window == Array(expected.suffix(12)))
        // A row that is just full is no row and a half.
        bench.set(3, [0x93] + [UInt8](petscii: String(repeating: "x", count: 40), in: .lowerCase))
        bench.print("y")
        try bench.settle()
        #expect(bench.window == [String(repeating: "x", count: 40), "y"])
    }

    @Test
    func controlCodesWork() async throws {
        let bench = try await Bench.connected()
        bench.print("gone")
        // Clear, red, A; reverse, B, reverse off, C; RETURN, white, D; 2 is no control code that is known.
        bench.set(3, [0x93, 0x1C, 0x41, 0x12, 0x42, 0x92, 0x43, 0x0D, 0x05, 0x02, 0x44])
        try bench.settle()
        #expect(bench.window == ["abc", "d"])
        let cells = bench.commodore.cells
        #expect(cells[11][0].colour == .red && cells[12][0].colour == .white)
        #expect(!cells[11][0].code.isReversed && cells[11][1].code.isReversed && !cells[11][2].code.isReversed)
    }

    @Test
    func everyCharacterIsShown() async throws {
        let bench = try await Bench.connected()
        let characters = (UInt8.min...UInt8.max).filter { $0 & 0x7F >= 0x20 }
        bench.set(3, Array(characters))
        try bench.settle()
        let shown = bench.commodore.cells[11..<23].joined().prefix(characters.count).map(\.code)
        #expect(shown == characters.map { ScreenCode(petscii: $0) })
    }

    @Test(arguments: VideoStandard.allCases)
    func hertzBecomeStepsOfTheSID(_ standard: VideoStandard) async throws {
        let bench = try await Bench.connected(standard)
        let cycles = standard == .pal ? 985_248.0 : 1_022_727
        for (index, hertz) in ([0, 1, 16, 262, 440, 1000, 2093, 3520, 3848] as [UInt16]).enumerated() {
            let voice = index % 3
            bench.set(7 + UInt8(voice), word: hertz)
            try bench.settle()
            let low = bench.commodore.soundRegisters[voice * 7]
            let high = bench.commodore.soundRegisters[voice * 7 + 1]
            let steps = Double(UInt16(high) << 8 | UInt16(low))
            let exact = Double(hertz) * 16_777_216 / cycles
            #expect(abs(steps - exact) <= 1, "\(hertz) Hz: \(steps), not \(exact)")
            try bench.run(frames: 40)
            #expect(bench.row(4 + voice).contains(" \(hertz) Hz"))
        }
        // The register's end.
        bench.set(7, word: 65535)
        try bench.settle()
        #expect(bench.commodore.soundRegisters[0...1] == [0xFF, 0xFF])
    }

    @Test
    func voicesSoundAsTheyAreTold() async throws {
        let bench = try await Bench.connected()
        let waveforms: [(value: UInt8, control: UInt8, name: String)] = [
            (1, 0x11, "triangle"), (2, 0x21, "sawtooth"), (3, 0x41, "pulse"), (4, 0x81, "noise"), (0, 0x00, "off"),
        ]
        for voice in 0..<3 {
            bench.set(UInt8(13 + voice), [UInt8(9 + voice)])
            for waveform in waveforms {
                bench.set(UInt8(10 + voice), [waveform.value])
                try bench.settle()
                #expect(bench.commodore.soundRegisters[voice * 7 + 4] == waveform.control)
                #expect(bench.row(4 + voice).contains(waveform.name))
            }
            #expect(bench.commodore.soundRegisters[voice * 7 + 6] == UInt8(9 + voice) << 4)
            #expect(bench.row(4 + voice).hasSuffix("\(9 + voice)"))
        }
        #expect(bench.commodore.soundRegisters[0x18] == 15)
    }

    @Test
    func aVolumeIsReachedByANewAttack() async throws {
        let bench = try await Bench.connected()
        bench.set(11, [2])
        try bench.settle()
        _ = bench.commodore.takeSoundWrites()
        bench.set(14, [12])
        try bench.settle()
        let writes = bench.commodore.takeSoundWrites().writes.map { [UInt8($0.register), $0.value] }
        #expect(writes == [[13, 0xC0], [11, 0x20], [11, 0x21]])
    }

    @Test
    func theSpriteMoves() async throws {
        let bench = try await Bench.connected()
        #expect(bench.commodore[0xD015] & 1 == 1)
        bench.set(16, word: 300)
        bench.set(17, [99])
        try bench.settle()
        #expect(
            bench.commodore[0xD000] == 44 && bench.commodore[0xD010] & 1 == 1 && bench.commodore[0xD001] == 99)
        #expect(bench.row(7).hasPrefix("Sprite  x 300   y  99"))
        bench.set(16, word: 30)
        try bench.settle()
        #expect(bench.commodore[0xD000] == 30 && bench.commodore[0xD010] & 1 == 0)
        // Its points are there: the ball's middle in the picture, whose display begins at 32, 36.
        bench.set(16, word: 24 + 100)
        bench.set(17, [210])
        try bench.settle()
        #expect(bench.commodore.picture()[32 + 100 + 11, 36 + 160 + 10] == .yellow)
    }

    @Test
    func aTypedLineIsSentAndShown() async throws {
        let bench = try await Bench.connected()
        bench.commodore.type("Hello \"64\"!")
        try bench.run("the typed line") { $0.row(24) == "> Hello \"64\"!" }
        bench.commodore.press(.delete)
        bench.commodore.type("?\n")
        #expect(String(petscii: try bench.next(4), in: .lowerCase) == "Hello \"64\"?")
        try bench.run("its echo") { $0.window == ["Hello \"64\"?"] && $0.row(24) == ">" }
        #expect(bench.commodore.cells[11][0].colour == .lightGreen)
        // RETURN alone sends nothing; the longest line has 80 characters, of which the end is seen.
        bench.commodore.type("\n" + String(repeating: "0123456789", count: 9))
        try bench.run("the keys") { $0.commodore.untypedKeyCount == 0 }
        try bench.run(frames: 10)
        #expect(bench.row(24) == "> " + String(repeating: "0123456789", count: 8).suffix(37))
        bench.commodore.type("\n")
        #expect(try bench.next(4).count == 80)
    }

    @Test
    func aLineTypedWithoutAConnectionIsKept() async throws {
        let bench = try await Bench()
        bench.commodore.type("early\n")
        try bench.connect()
        #expect(!bench.values.contains { $0.element == 4 })
        bench.commodore.type("\n")
        #expect(String(petscii: try bench.next(4), in: .lowerCase) == "early")
    }

    @Test
    func joysticksAreToldWhenTheyChange() async throws {
        let bench = try await Bench.connected()
        #expect(
            bench.values.contains(.init(element: 5, bytes: [0])) && bench.values.contains(.init(element: 6, bytes: [0]))
        )
        bench.commodore.joystick2 = [.up, .fire]
        #expect(try bench.next(6) == [0b10001])
        try bench.run("the panel") { $0.row(8) == "Joystick 1 -----       2 u---F" }
        bench.commodore.joystick1 = [.left]
        #expect(try bench.next(5) == [0b00100])
        bench.commodore.joystick2 = []
        #expect(try bench.next(6) == [0])
        let count = bench.values.count
        try bench.run(frames: 200)
        #expect(bench.values[count...].allSatisfy { $0.element == 18 })
    }

    @Test(arguments: VideoStandard.allCases)
    func theClockIsToldOnceASecond(_ standard: VideoStandard) async throws {
        let bench = try await Bench.connected(standard)
        func next() throws -> Int { try bench.next(18).reversed().reduce(0) { $0 << 8 | Int($1) } }
        let first = try next()
        let second = try next()
        #expect((59...62).contains(second - first))
        #expect(abs(bench.commodore.jiffies - second) < 12)
    }

    @Test
    func memoryIsWrittenAndRead() async throws {
        let bench = try await Bench.connected()
        let bytes = (0..<200).map { UInt8($0) }
        bench.set(19, [0x00, 0xC0] + bytes)
        try bench.settle()
        #expect((0..<200).map { bench.commodore.ram(at: 0xC000 + $0) } == bytes)
        bench.set(20, [0x10, 0xC0, 5])
        #expect(try bench.next(21) == [0x10, 0xC0, 16, 17, 18, 19, 20])
        bench.set(20, [0x00, 0xC0, 255])
        #expect(try bench.next(21).count == 2 + 248)
        // Nothing is written with an address alone, nothing is answered to a count of 0 or to half a request.
        let count = bench.values.count
        bench.set(19, [0x00, 0xC0])
        bench.set(19, [0x00])
        bench.set(20, [0x00, 0xC0, 0])
        bench.set(20, [0x00, 0xC0])
        try bench.settle()
        #expect(!bench.values[count...].contains { $0.element == 21 })
    }
}

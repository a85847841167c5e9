import PETSCII
import Testing

struct ScreenCodeTests {
    /// Rows of the table in the Programmer's Reference Guide: PETSCII and the screen code that it puts on the screen.
    @Test(arguments: [
        (0x20, 0x20), (0x40, 0x00), (0x41, 0x01), (0x5F, 0x1F), (0x61, 0x41), (0x7F, 0x5F), (0xA0, 0x60), (0xBF, 0x7F),
        (0xC1, 0x41), (0xDF, 0x5F), (0xE0, 0x60), (0xFE, 0x7E), (0xFF, 0x5E), (0x0D, 0x8D), (0x93, 0xD3),
    ])
    func petsciiBecomesItsScreenCode(_ petscii: Int, _ code: Int) {
        #expect(ScreenCode(petscii: UInt8(petscii)).rawValue == UInt8(code))
    }

    @Test(arguments: 0..<128)
    func everyScreenCodeComesBackFromItsPetscii(_ code: Int) {
        let code = ScreenCode(rawValue: UInt8(code))
        #expect(ScreenCode(petscii: code.petscii) == code)
    }

    @Test(arguments: CommodoreCharacterSet.allCases)
    func theCharactersOfASetAreAllDifferent(_ set: CommodoreCharacterSet) {
        #expect(set.characters.count == 128)
        #expect(Set(set.characters).count == 128)
        for (code, character) in set.characters.enumerated() {
            #expect(ScreenCode(character, in: set)?.rawValue == UInt8(code))
        }
    }
}

struct TextTests {
    @Test
    func lettersFollowTheSet() {
        #expect([UInt8](petscii: "aA", in: .graphics) == [0x41, 0x41])
        #expect([UInt8](petscii: "aA", in: .lowerCase) == [0x41, 0xC1])
        #expect(String(petscii: [0x41, 0xC1], in: .graphics) == "A♠")
        #expect(String(petscii: [0x41, 0xC1, 0x61], in: .lowerCase) == "aAA")
    }

    @Test
    func lineDrawingGoesBothWays() {
        let text = "┌─┐│└┘├┤┬┴┼♥♦♣♠●π"
        #expect(String(petscii: [UInt8](petscii: text, in: .graphics), in: .graphics) == text)
        #expect([UInt8](petscii: "─", in: .graphics) == [0xC0])
    }

    @Test
    func lineEndsAreReturns() {
        #expect([UInt8](petscii: "a\r\nb\nc", in: .graphics) == [0x41, 0x0D, 0x42, 0x0D, 0x43])
        #expect(String(petscii: [0x41, 0x0D, 0x42, 0x8D], in: .graphics) == "A\nB\n")
    }

    @Test
    func missingCharactersAreReplacedVisibly() {
        #expect(String(petscii: [UInt8](petscii: "Größe… é", in: .lowerCase), in: .lowerCase) == "Groesse... e")
        #expect(String(petscii: [UInt8](petscii: "日本 🙂", in: .lowerCase), in: .lowerCase) == "?? ?")
        #expect([UInt8](ascii: "a\u{7}\u{1B}b\t^|") == Array("a??b ^|".utf8))
        #expect([UInt8](ascii: "„naïve“ ☃\n") == Array("\"naive\" ?\r".utf8))
    }

    @Test
    func everyASCIICharacterHasAPetsciiByte() {
        for set in CommodoreCharacterSet.allCases {
            for byte in UInt8(0x20)..<0x7F where byte != UInt8(ascii: "?") {
                let bytes = [UInt8](petscii: String(UnicodeScalar(byte)), in: set)
                #expect(bytes.count == 1 && bytes != [0x3F], "\(UnicodeScalar(byte)) in \(set)")
            }
        }
    }

    @Test
    func controlCodesCanBeShown() {
        let bytes: [UInt8] = [0x93, 0x9A, 0x41, 0x02, 0x12]
        #expect(String(petscii: bytes, in: .graphics) == "A")
        #expect(
            String(petscii: bytes, in: .graphics, showingControls: true) == "{clear}{light blue}A{$02}{reverse on}")
    }

    @Test
    func anyBytesBecomeTextAndComeBack() {
        for set in CommodoreCharacterSet.allCases {
            let shown = (UInt8.min...UInt8.max).filter { $0 & 0x7F >= 0x20 }
            let codes = shown.map { ScreenCode(petscii: $0) }
            let again = [UInt8](petscii: String(petscii: shown, in: set), in: set).map { ScreenCode(petscii: $0) }
            #expect(again == codes)
        }
    }
}

struct ColourTests {
    @Test(arguments: Colour.allCases)
    func aColourHasOneControlCode(_ colour: Colour) {
        #expect(ControlCode(colour: colour).colour == colour)
        #expect(Colour(nibble: colour.rawValue | 0xF0) == colour)
    }

    @Test
    func coloursHaveTheirNames() {
        #expect(Colour.lightBlue.name == "light blue")
        #expect(ControlCode.return.name == "return")
        #expect(ControlCode.reverseOff.name == "reverse off")
    }
}

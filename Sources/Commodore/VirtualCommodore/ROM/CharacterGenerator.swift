/// The character memory that a real machine has in ROM, with this project's own shapes.
enum CharacterGenerator {
    /// 4 KiB: the graphics set and the lower case set, each with 128 characters and the same reversed.
    static let bytes: [UInt8] = {
        let graphics = Glyphs.bytes(Glyphs.capitals) + Glyphs.bytes(Glyphs.digits) + Glyphs.bytes(Glyphs.graphics)
        var lowerCase = Glyphs.bytes(Glyphs.smallLetters) + graphics[0x100...]
        // Where the lower case set has its capitals, the other one has graphics.
        lowerCase.replaceSubrange(0x41 * 8..<0x5B * 8, with: graphics[0x01 * 8..<0x1B * 8])
        let others = Glyphs.bytes(Glyphs.otherGraphics)
        for (index, code) in [0x5E, 0x5F, 0x69, 0x7A].enumerated() {
            lowerCase.replaceSubrange(code * 8..<code * 8 + 8, with: others[index * 8..<index * 8 + 8])
        }
        return [graphics, lowerCase].flatMap { $0 + $0.map { ~$0 } }
    }()
}

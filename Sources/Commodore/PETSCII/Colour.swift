/// The 16 colours of the Commodore 64, by the chips' numbers.
public enum Colour: UInt8, Sendable, Hashable, CaseIterable {
    /// The colours 0 to 7.
    case black, white, red, cyan, purple, green, blue, yellow
    /// The colours 8 to 15.
    case orange, brown, lightRed, darkGrey, grey, lightGreen, lightBlue, lightGrey

    /// The colour that the lower 4 bits of a byte stand for, as in colour memory.
    public init(nibble: UInt8) {
        self = Self.allCases[Int(nibble & 0x0F)]
    }

    /// The colour's name, such as `light blue`.
    public var name: String { Self.names[Int(rawValue)] }

    /// Red, green and blue on a modern screen, 0xRRGGBB: the values that Philip "Pepto" Timmermann calculated from
    /// the chip's signals ("Calculating the color palette of the VIC II", 2001).
    public var rgb: UInt32 { Self.rgbValues[Int(rawValue)] }

    private static let names = [
        "black", "white", "red", "cyan", "purple", "green", "blue", "yellow", "orange", "brown", "light red",
        "dark grey", "grey", "light green", "light blue", "light grey",
    ]

    private static let rgbValues: [UInt32] = [
        0x000000, 0xFFFFFF, 0x68372B, 0x70A4B2, 0x6F3D86, 0x588D43, 0x352879, 0xB8C76F,
        0x6F4F25, 0x433900, 0x9A6759, 0x444444, 0x6C6C6C, 0x9AD284, 0x6C5EB5, 0x959595,
    ]
}

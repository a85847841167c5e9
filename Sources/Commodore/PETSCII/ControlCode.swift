/// The PETSCII control codes: bytes that act instead of printing a character.
public enum ControlCode: UInt8, Sendable, Hashable, CaseIterable {
    case stop = 0x03
    case white = 0x05
    case lockCase = 0x08
    case unlockCase = 0x09
    case `return` = 0x0D
    case lowerCase = 0x0E
    case down = 0x11
    case reverseOn = 0x12
    case home = 0x13
    case delete = 0x14
    case red = 0x1C
    case right = 0x1D
    case green = 0x1E
    case blue = 0x1F
    case orange = 0x81
    case run = 0x83
    case f1 = 0x85
    case f3 = 0x86
    case f5 = 0x87
    case f7 = 0x88
    case f2 = 0x89
    case f4 = 0x8A
    case f6 = 0x8B
    case f8 = 0x8C
    case shiftReturn = 0x8D
    case upperCase = 0x8E
    case black = 0x90
    case up = 0x91
    case reverseOff = 0x92
    case clear = 0x93
    case insert = 0x94
    case brown = 0x95
    case lightRed = 0x96
    case darkGrey = 0x97
    case grey = 0x98
    case lightGreen = 0x99
    case lightBlue = 0x9A
    case lightGrey = 0x9B
    case purple = 0x9C
    case left = 0x9D
    case yellow = 0x9E
    case cyan = 0x9F

    /// The control code that switches to a colour.
    public init(colour: Colour) {
        self =
            switch colour {
            case .black: .black
            case .white: .white
            case .red: .red
            case .cyan: .cyan
            case .purple: .purple
            case .green: .green
            case .blue: .blue
            case .yellow: .yellow
            case .orange: .orange
            case .brown: .brown
            case .lightRed: .lightRed
            case .darkGrey: .darkGrey
            case .grey: .grey
            case .lightGreen: .lightGreen
            case .lightBlue: .lightBlue
            case .lightGrey: .lightGrey
            }
    }

    /// The colour that this code switches to, if it is one of those.
    public var colour: Colour? { Self.colours[self] }

    private static let colours = Dictionary(
        uniqueKeysWithValues: Colour.allCases.map { (ControlCode(colour: $0), $0) })
}

/// The PETSCII control codes: bytes that act instead of printing a character.
public enum ControlCode: UInt8, Sendable, Hashable, CaseIterable {
    /// The RUN/STOP key.
    case stop = 0x03
    /// Switches to white.
    case white = 0x05
    /// Disables the keys that switch between the character sets.
    case lockCase = 0x08
    /// Enables the keys that switch between the character sets.
    case unlockCase = 0x09
    /// The RETURN key: begins a new line.
    case `return` = 0x0D
    /// Switches to the character set with small letters.
    case lowerCase = 0x0E
    /// Moves the cursor down.
    case down = 0x11
    /// Turns on reversed characters.
    case reverseOn = 0x12
    /// Moves the cursor to the upper left corner.
    case home = 0x13
    /// Deletes the character before the cursor.
    case delete = 0x14
    /// Switches to red.
    case red = 0x1C
    /// Moves the cursor to the right.
    case right = 0x1D
    /// Switches to green.
    case green = 0x1E
    /// Switches to blue.
    case blue = 0x1F
    /// Switches to orange.
    case orange = 0x81
    /// RUN/STOP with SHIFT.
    case run = 0x83
    /// The F1 key.
    case f1 = 0x85
    /// The F3 key.
    case f3 = 0x86
    /// The F5 key.
    case f5 = 0x87
    /// The F7 key.
    case f7 = 0x88
    /// The F2 key.
    case f2 = 0x89
    /// The F4 key.
    case f4 = 0x8A
    /// The F6 key.
    case f6 = 0x8B
    /// The F8 key.
    case f8 = 0x8C
    /// RETURN with SHIFT.
    case shiftReturn = 0x8D
    /// Switches to the character set with capitals and graphics.
    case upperCase = 0x8E
    /// Switches to black.
    case black = 0x90
    /// Moves the cursor up.
    case up = 0x91
    /// Turns off reversed characters.
    case reverseOff = 0x92
    /// Clears the screen.
    case clear = 0x93
    /// Inserts a space at the cursor.
    case insert = 0x94
    /// Switches to brown.
    case brown = 0x95
    /// Switches to light red.
    case lightRed = 0x96
    /// Switches to dark grey.
    case darkGrey = 0x97
    /// Switches to grey.
    case grey = 0x98
    /// Switches to light green.
    case lightGreen = 0x99
    /// Switches to light blue.
    case lightBlue = 0x9A
    /// Switches to light grey.
    case lightGrey = 0x9B
    /// Switches to purple.
    case purple = 0x9C
    /// Moves the cursor to the left.
    case left = 0x9D
    /// Switches to yellow.
    case yellow = 0x9E
    /// Switches to cyan.
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

    /// The colour that this code switches to; `nil` if it switches to none.
    public var colour: Colour? { Self.colours[self] }

    private static let colours = Dictionary(
        uniqueKeysWithValues: Colour.allCases.map { (ControlCode(colour: $0), $0) })
}

extension QRCode {
    /// The width of the light margin that a reader needs, in modules.
    package static let quietZone = 4

    /// The code as text for a terminal: dark on light, whatever the terminal's colours are. A line of half blocks shows
    /// two rows of modules. The quiet zone is included, and each line ends with a line break.
    package var terminalText: String {
        // Black on bright white: on a dark terminal the plain characters would be inverted.
        let (colours, reset) = ("\u{1B}[30;107m", "\u{1B}[0m")
        let range = -Self.quietZone..<size + Self.quietZone
        var text = ""
        for y in stride(from: range.lowerBound, to: range.upperBound, by: 2) {
            text += colours
            for x in range {
                switch (self[x, y], self[x, y + 1]) {
                case (true, true): text += "█"
                case (true, false): text += "▀"
                case (false, true): text += "▄"
                case (false, false): text += " "
                }
            }
            text += reset + "\n"
        }
        return text
    }
}

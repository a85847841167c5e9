extension QRCode {
    /// The light modules that have to be around the code.
    package static let quietZone = 4

    /// The code for a terminal, dark on light whatever its colours are: two rows of modules in a line of half blocks,
    /// with the quiet zone, and a line break after each line.
    package var terminalText: String {
        // Black on bright white, said explicitly: on a dark terminal the plain characters would be inverted.
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

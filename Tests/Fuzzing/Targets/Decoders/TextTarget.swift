import ElementalWire

/// A value as a person, an MQTT message or a command gives it: what can be read is read again from its own text.
enum TextTarget: FuzzTarget {
    static let name = "text"

    private static let texts = [
        "21.11111111111111", "9007199254740993.0", "1e300", "1e309", "1_000", "1.", ".5", "nan", "-inf", "NaN",
        "0x1F", "\u{0661}\u{0662}", "\u{FEFF}1", "hello\r\nworld\r\n", "1\r\n", "on\r\n", "1,2\r\n,3", "1,,3", "None",
        "f\u{1B}",
        String(repeating: "9", count: 400), "00ff\r\n",
    ]

    static func seeds(_ frames: RecordedFrames) -> [[UInt8]] {
        ElementType.allCases.flatMap { type in texts.map { [type.rawValue] + $0.utf8 } }
    }

    /// The first byte says which type.
    static func run(_ input: UnsafeRawBufferPointer) {
        var reader = InputReader(input)
        guard let type = ElementType(rawValue: reader.byte()),
            let text = String(validating: reader.bytes(), as: UTF8.self),
            let value = try? ElementValue(text: text, type: type)
        else { return }
        check(value.type == type, "a \(type) that is a \(value.type)")
        let again = try? ElementValue(text: value.description, type: type)
        check(again?.description == value.description, "a \(type) that changes: \(value)")
    }
}

/// Texts in messages of admission: UTF-8 without control characters, preceded by their length in one byte.
enum AdmissionText {
    /// The longest name of a device, in UTF-8 bytes.
    static let maximumNameByteCount = 64
    /// The longest name of a service, in UTF-8 bytes.
    static let maximumServiceByteCount = 63

    /// The text without control characters, truncated to so many bytes.
    static func fitting(_ text: String, byteCount: Int) -> String {
        var result = String.UnicodeScalarView()
        var count = 0
        for scalar in text.unicodeScalars where !isControl(scalar) {
            count += UTF8.width(scalar)
            if count > byteCount { break }
            result.append(scalar)
        }
        return String(result)
    }

    /// Whether a service's name can be said in a message: it is never cut, which could make it another one's.
    static func isService(_ name: String) -> Bool {
        (1...maximumServiceByteCount).contains(name.utf8.count) && !name.unicodeScalars.contains(where: isControl)
    }

    /// - Returns: `nil` if the bytes are not UTF-8 or have a control character.
    static func decode(_ bytes: UnsafeRawBufferPointer) -> String? {
        guard let text = String(validating: bytes, as: UTF8.self),
            !text.unicodeScalars.contains(where: isControl)
        else { return nil }
        return text
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
    }
}

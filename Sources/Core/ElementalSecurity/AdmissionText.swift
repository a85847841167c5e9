/// Texts in admission messages: UTF-8 without control characters, preceded by their length in one byte.
enum AdmissionText {
    /// The maximum size of a device's name, in bytes of UTF-8.
    static let maximumNameByteCount = 64
    /// The maximum size of a service's name, in bytes of UTF-8.
    static let maximumServiceByteCount = 63

    /// The text without control characters, truncated to this many bytes.
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

    /// Whether a message can carry the service's name. Names of services are never truncated: the rest could be another
    /// service's name.
    static func isService(_ name: String) -> Bool {
        (1...maximumServiceByteCount).contains(name.utf8.count) && !name.unicodeScalars.contains(where: isControl)
    }

    /// - Returns: `nil` if the bytes are not UTF-8 or contain a control character.
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

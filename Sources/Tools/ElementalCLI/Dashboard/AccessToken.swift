import ElementalSecurity

/// The token that browsers and collectors of metrics have to send.
struct AccessToken {
    let text: String
    let path: String

    private static let file = "page-token"
    private static let characterCount = 43
    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
}

extension AccessToken {
    /// Reads the token of a state directory, or creates it there, so that it is the same at every start. Only the user
    /// can read its file. Blocks.
    init(directory: String) throws(SecurityError) {
        let file = StateFile(directory: directory, name: Self.file)
        path = "\(directory)/\(Self.file)"
        // A token that others could read is replaced.
        if let kept = try? file.read(limit: Self.characterCount), let text = Self.text(kept) {
            self.text = text
            return
        }
        // 258 bits of the system's randomness.
        var made = (0..<Self.characterCount).map { _ in Self.letters[Int.random(in: 0..<Self.letters.count)] }
        try file.update(limit: Self.characterCount) { content in
            // Another dashboard may have created one meanwhile.
            if let content, Self.text(content) != nil { made = content }
            return made
        }
        text = String(decoding: made, as: UTF8.self)
    }

    private static func text(_ content: [UInt8]) -> String? {
        guard content.count == characterCount, content.allSatisfy(letters.contains) else { return nil }
        return String(decoding: content, as: UTF8.self)
    }
}

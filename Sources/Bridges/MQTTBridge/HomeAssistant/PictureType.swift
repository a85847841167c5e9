import Elemental

/// The kinds of pictures that Home Assistant shows, by how they begin.
enum PictureType {
    /// The content type of the value if it is a picture.
    static func of(_ value: ElementValue) -> String? {
        guard case .data(let data) = value else { return nil }
        if data.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return "image/png" }
        if data.starts(with: [0xFF, 0xD8, 0xFF]) { return "image/jpeg" }
        if data.starts(with: Array("GIF87a".utf8)) || data.starts(with: Array("GIF89a".utf8)) { return "image/gif" }
        return nil
    }
}

import Support

/// Small files of the system.
enum TextFile {
    /// The most bytes that are read.
    private static let limit = 64 * 1024

    /// The file's text; `nil` if it cannot be read. It may block.
    static func read(_ path: String) -> String? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: limit)
        let count = fread(&bytes, 1, limit, file)
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}

/// The names in a directory.
enum Directory {
    /// The names without `.` and `..`; empty if they cannot be listed. It may block.
    static func names(_ path: String) -> [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}

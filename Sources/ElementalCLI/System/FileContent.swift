#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Reading and writing whole files.
enum FileContent {
    /// The bytes of the file, or an error that names it.
    static func read(_ path: String) throws -> Data {
        do {
            return try Data(contentsOf: URL(filePath: path))
        } catch let error as CocoaError {
            let reason =
                switch error.code {
                case .fileReadNoSuchFile, .fileNoSuchFile: "there is no such file"
                case .fileReadNoPermission: "reading it is not permitted"
                default: "it cannot be read (\(error.code.rawValue))"
                }
            throw CommandFailure("invalidFile", "file '\(path)': \(reason)")
        }
    }

    /// Writes the bytes into the file, in place of what is there, or throws an error that names it.
    static func write(_ bytes: some Sequence<UInt8>, to path: String) throws {
        do {
            try Data(bytes).write(to: URL(filePath: path))
        } catch {
            throw CommandFailure("invalidFile", "file '\(path)' cannot be written")
        }
    }
}

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Reading whole files.
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
}

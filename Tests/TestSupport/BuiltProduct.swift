import Foundation
import Support

/// Finds the package's executables.
public enum BuiltProduct {
    /// The paths found so far.
    private static let paths = Locked<[String: String]>([:])

    /// The path of an executable target's product, beside the running test bundle.
    ///
    /// - Throws: ``TestSupportError`` if there is none, or if the tests have a sanitizer and the product has not.
    public static func path(of name: String) throws -> String {
        if let path = paths.withLock({ $0[name] }) { return path }
        let path = try find(name)
        if let sanitizer = Sanitizer.current, try !sanitizer.isIn(path) {
            throw TestSupportError("\(path) is not built with the \(sanitizer.rawValue) sanitizer, as the tests are")
        }
        paths.withLock { $0[name] = path }
        return path
    }

    private static func find(_ name: String) throws -> String {
        var folders: [URL] = []
        #if os(Linux)
        folders.append(URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent())
        #endif
        folders += Bundle.allBundles.map { $0.bundleURL.deletingLastPathComponent() }
        if let first = CommandLine.arguments.first {
            folders.append(URL(fileURLWithPath: first).deletingLastPathComponent())
        }
        for folder in folders {
            let path = folder.appendingPathComponent(name).path
            if FileManager.default.isExecutableFile(atPath: path) { return path }
        }
        throw TestSupportError("there is no \(name) in \(folders.map(\.path)); build it first: swift build")
    }
}

import Foundation
import Support

/// Finds the package's executables.
public enum BuiltProduct {
    private static let paths = Locked<[String: String]>([:])

    /// The path of an executable target's product, beside the running test bundle; it has the tests' sanitizer.
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
        let folder = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        let path = folder.appendingPathComponent(name).path
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw TestSupportError("there is no \(name) in \(folder.path); build it first: swift build")
        }
        return path
    }
}

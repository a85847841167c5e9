import Foundation

/// Finds the executables that are built together with the tests.
public enum BuiltProduct {
    /// The path of an executable target's product, beside the running test bundle.
    public static func path(of name: String) throws -> String {
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

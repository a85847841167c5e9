import Foundation

/// The checkout that the tests were built from.
public enum Repository {
    /// Its top folder.
    public static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        .standardizedFileURL

    /// The absolute path of a file or folder, given from the top folder. Links are kept: Python finds its environment by
    /// the link through which it was started.
    public static func path(_ path: String) -> String { root.appending(path: path).path }
}

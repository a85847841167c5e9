import ElementalSecurity
import Foundation

/// The state directory of all processes that this process's tests start, instead of the user's own.
///
/// Its identity is there before, so that none of them is the one that makes it. A test that is about a start without an
/// identity, or about two users, gives its processes directories of their own (`--state`).
enum StateOfTests {
    private static let directory = Result {
        try SecurityState(directory: ProcessFolder.path + "/state").directory
    }

    /// The environment of a child process: this process's own, with that directory, and with what the test adds.
    static func environment(adding added: [String: String] = [:]) throws -> [String: String] {
        ProcessInfo.processInfo.environment
            .merging(["ELEMENTAL_STATE": try directory.get()]) { $1 }
            .merging(added) { $1 }
    }
}

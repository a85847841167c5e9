#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The location of a user's identity and trust on a machine.
@usableFromInline
package enum StateDirectory {
    /// The path: `explicit`, or the first of these that the environment has: `$ELEMENTAL_STATE`, `$STATE_DIRECTORY`
    /// (systemd's `StateDirectory=`; the first of several), `$XDG_STATE_HOME/elemental` and
    /// `$HOME/.local/state/elemental`.
    ///
    /// - Throws: ``SecurityError/Code/noStateDirectory``
    package static func path(explicit: String? = nil, environment: [String: String]) throws(SecurityError) -> String {
        if let explicit {
            guard !explicit.isEmpty else {
                throw SecurityError(.noStateDirectory, "the state directory's path is empty; use --state DIR")
            }
            return explicit
        }
        func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        if let path = value("ELEMENTAL_STATE") { return path }
        if let paths = value("STATE_DIRECTORY"), let path = paths.split(separator: ":").first { return String(path) }
        // Programs must ignore a relative path (XDG Base Directory Specification).
        if let path = value("XDG_STATE_HOME"), path.hasPrefix("/") { return path + "/elemental" }
        if let home = value("HOME"), home.hasPrefix("/") { return home + "/.local/state/elemental" }
        throw SecurityError(
            .noStateDirectory,
            "there is no directory for the identity, because $HOME is not set: use --state DIR, $ELEMENTAL_STATE, or "
                + "StateDirectory= in a systemd unit")
    }

    /// The environment of this process.
    @usableFromInline package static var environment: [String: String] { ProcessInfo.processInfo.environment }
}

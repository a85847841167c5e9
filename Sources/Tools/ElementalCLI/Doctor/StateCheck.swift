import ElementalSecurity
import Support

/// Whether identity and trusted peers can be kept.
enum StateCheck {
    /// - Parameter explicit: the directory that was given on the command line.
    static func run(_ explicit: String?) -> Finding {
        let path: String
        do throws(SecurityError) {
            path = try StateDirectory.path(explicit: explicit, environment: StateDirectory.environment)
            let hasIdentity = try SecurityState.existing(directory: explicit) != nil
            if access(path, F_OK) == 0 {
                guard access(path, W_OK) == 0 else {
                    return Finding(
                        "state directory", .problem, "\(path) cannot be written, so nothing can be paired",
                        advice: "make it this user's own: sudo chown -R $USER \(path.shellArgument)")
                }
                return Finding(
                    "state directory", .ok,
                    hasIdentity
                        ? "identity and trusted peers are in \(path)"
                        : "\(path) has no identity yet: the first command that needs one makes it")
            }
        } catch {
            return Finding("state directory", .problem, error.message)
        }
        // Made at the first start: is there a place for it?
        var parent = path
        while access(parent, F_OK) != 0, let slash = parent.lastIndex(of: "/"), slash != parent.startIndex {
            parent = String(parent[..<slash])
        }
        guard access(parent, W_OK) == 0 else {
            return Finding(
                "state directory", .problem, "\(path) cannot be made: \(parent) cannot be written by this user",
                advice: "name another: --state DIR or $ELEMENTAL_STATE")
        }
        return Finding("state directory", .ok, "\(path) is made by the first command that needs an identity")
    }
}

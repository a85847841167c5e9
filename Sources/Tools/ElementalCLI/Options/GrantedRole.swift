import ArgumentParser
import ElementalWire

/// A role that can be granted, on the command line.
struct GrantedRole: ExpressibleByArgument, Sendable {
    let role: Role

    static let allValueStrings = Role.granted.map(\.rawValue)

    static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }

    /// The default in the help is written as it is typed.
    var defaultValueDescription: String { role.rawValue }

    init(_ role: Role) { self.role = role }

    init?(argument: String) {
        guard let role = Role(rawValue: argument), Role.granted.contains(role) else { return nil }
        self.role = role
    }
}

extension Role {
    /// The roles that can be granted, for help and messages.
    static var grantedNames: String { granted.map(\.rawValue).joined(separator: ", ") }
}

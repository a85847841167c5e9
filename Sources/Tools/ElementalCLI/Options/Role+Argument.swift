import ArgumentParser
import ElementalWire

/// On the command line a role is one that can be granted.
extension Role: ExpressibleByArgument {
    public static var allValueStrings: [String] { granted.map(\.rawValue) }

    public init?(argument: String) {
        guard let role = Role(rawValue: argument), Role.granted.contains(role) else { return nil }
        self = role
    }

    static var grantedNames: String { allValueStrings.joined(separator: ", ") }
}

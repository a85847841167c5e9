import ArgumentParser
import Elemental
import ElementalSecurity
import ElementalWire
import Support

/// The name under which a client connects: `--name`.
enum ClientName {
    /// Checks that a service would accept the name unchanged.
    static func check(_ name: String?) throws {
        guard let name, !(1...SystemElement.maximumNameByteCount).contains(name.utf8.count) else { return }
        throw ValidationError(
            "the name of this client takes 1 to \(SystemElement.maximumNameByteCount) bytes, not \(name.utf8.count)")
    }

    /// The default: `elemental@HOST`.
    static var standard: String { standard(of: "elemental") }

    /// The default for pairing, which no other client of a service may have: `PROGRAM@HOST-XXXX`, with the beginning of
    /// the fingerprint, because hosts have the same name where nobody has changed it.
    static func pairing(of program: String = "elemental", _ identity: Fingerprint?) -> String {
        guard let identity else { return standard(of: program) }
        let suffix = "-" + identity.short.prefix(4)
        return standard(of: program).prefix(64 - suffix.count) + suffix
    }

    /// `PROGRAM@HOST`.
    static func standard(of program: String) -> String { HostName.known.map { "\(program)@\($0)" } ?? program }
}

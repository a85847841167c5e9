import ArgumentParser
import Elemental
import ElementalWire
import Support

/// The name under which a client connects: `--name`.
enum ClientName {
    /// Checks that a service would accept the name unchanged.
    ///
    /// - Throws: `ValidationError` if it is empty or too long.
    static func check(_ name: String?) throws {
        guard let name, !(1...SystemElement.maximumNameByteCount).contains(name.utf8.count) else { return }
        throw ValidationError(
            "--name takes a name of 1 to \(SystemElement.maximumNameByteCount) bytes, not of \(name.utf8.count)")
    }

    /// The default: `elemental@HOST`.
    static var standard: String { standard(of: "elemental") }

    /// `PROGRAM@HOST`.
    static func standard(of program: String) -> String { HostName.known.map { "\(program)@\($0)" } ?? program }
}

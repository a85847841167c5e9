import ArgumentParser
import Elemental

/// The rules for what a service is published with, which are the framework's own; they hold for one that only listens, too.
enum Publishing {
    /// - Parameters:
    ///   - service: the service's name.
    ///   - name: the instance's name that was given, if one was.
    ///   - address: the local address that was given, if one was.
    ///   - txt: what browsers show.
    /// - Throws: `ValidationError` with what is allowed.
    static func check(
        service: String, name: String?, address: String? = nil, txt: [String: String] = [:]
    ) throws {
        if let address, address.isEmpty || address.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }) {
            throw ValidationError(
                "--address takes an address of this machine, such as 127.0.0.1, not '\(address.excerpt)'")
        }
        var configuration = ServiceConfiguration()
        configuration.txt = txt
        do {
            // The host's name, which stands in for one that is not given, is nobody's mistake.
            try ElementalService(service, displayName: name ?? service, elements: [], configuration: configuration)
                .checkNames()
        } catch {
            throw ValidationError(error.message)
        }
    }
}

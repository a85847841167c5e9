import ArgumentParser

/// Where a gateway listens for emulators: `HOST:PORT` from the command line.
struct ModemAddress: ExpressibleByArgument, Sendable, CustomStringConvertible {
    let address: HostPort
    let description: String

    init?(argument: String) {
        guard let address = try? HostPort(parsing: argument, ports: 1...65535) else { return nil }
        self.address = address
        description = argument
    }
}

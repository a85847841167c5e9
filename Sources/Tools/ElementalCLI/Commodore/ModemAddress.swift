import ArgumentParser

/// Where a gateway listens for emulators, as it is typed: HOST:PORT.
struct ModemAddress: ExpressibleByArgument, Sendable, CustomStringConvertible {
    let host: String
    let port: Int
    let description: String

    init?(argument: String) {
        guard case .address(let host, let port)? = try? Target(parsing: argument) else { return nil }
        self.host = host
        self.port = port
        description = argument
    }
}

import TestSupport

/// A service of the command line that only listens.
enum Robot {
    /// Runs `elemental publish robot` on loopback, unlisted and with JSON, during the body, which gets its HOST:PORT.
    static func with<Result>(
        _ elements: [String] = ["1:Speed:float=0.5"], _ options: [String] = [], port: Int = 0,
        isolation: isolated (any Actor)? = #isolation,
        _ body: (_ service: ChildProcess, _ target: String) async throws -> Result
    ) async throws -> Result {
        try await withCommand(arguments(elements, port: port) + options) { service in
            try await body(service, "127.0.0.1:\(try await service.listeningPort())")
        }
    }

    static func arguments(_ elements: [String], port: Int = 0) -> [String] {
        [
            "publish", "robot", "--name", "Rover", "--unlisted", "--address", "127.0.0.1", "--port", "\(port)",
            "--json",
        ] + elements.flatMap { ["--element", $0] }
    }
}

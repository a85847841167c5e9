import ArgumentParser

/// Which certificates a client trusts: `--trust`.
struct CertificateOptions: ParsableArguments {
    @Option(
        name: .customLong("trust"),
        help: ArgumentHelp(
            "Trust the certificates in a PEM file as well as the system's, for a server with a self-signed one; may be given several times.",
            valueName: "file"))
    var files: [String] = []

    func validate() throws { if files.contains("") { throw ValidationError("--trust takes the name of a file") } }

    /// The maximum length of a file: many times the size of a system's whole trust store.
    private static let maximumByteCount = 4 * 1024 * 1024

    /// Calls `trust` with the content of each file.
    func load(_ output: OutputOptions, _ trust: ([UInt8]) throws -> Void) async throws {
        for file in files {
            let pem = try await FileContent.read(file, atMost: Self.maximumByteCount, timeout: output.limit)
            do { try trust(Array(pem)) } catch {
                throw CommandFailure("invalidFile", "file '\(file)' contains no certificate in PEM format")
            }
        }
    }
}

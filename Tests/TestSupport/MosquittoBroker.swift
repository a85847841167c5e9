import Foundation
import Support

/// Debian's mosquitto as a private process of a test.
///
/// It keeps nothing on disk: a broker that is killed and started again has forgotten what was retained, unless the
/// settings say `persistence true`.
public final class MosquittoBroker: MQTTBroker {
    /// What a broker with TLS has: files in PEM form.
    public struct Certificates: Sendable {
        /// The certificate of the authority that signed the broker's own, which clients have to trust.
        public let authority: String
        /// The broker's certificate, for `localhost` and 127.0.0.1.
        public let certificate: String
        public let key: String

        public var authorityPEM: [UInt8] { get throws { try Array(Data(contentsOf: URL(fileURLWithPath: authority))) } }
    }

    public let port: Int
    /// The certificates of a broker with TLS.
    public let certificates: Certificates?
    public let process: BrokerProcess

    private static let executable =
        MQTTPeers.program("mosquitto")
        ?? ["/usr/sbin", "/usr/local/sbin"].map { "\($0)/mosquitto" }
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    /// Why there is no broker here, or nil.
    public static var unavailableReason: String? {
        executable == nil ? "mosquitto is missing: run Tests/install mqtt" : nil
    }

    /// - Parameters:
    ///   - settings: lines of mosquitto's configuration; without `listener`, which is added, and with `{folder}` for a
    ///     folder of the broker's own, as in `password_file {folder}/passwords`.
    ///   - isSecure: whether the port speaks TLS, with certificates that `openssl` makes.
    public init(_ settings: [String] = ["allow_anonymous true"], isSecure: Bool = false) async throws {
        guard let executable = Self.executable else { throw TestSupportError(Self.unavailableReason ?? "") }
        let port = try PortLease.port()
        self.port = port
        // It says so once it listens, on standard error, for it does not flush standard output.
        process = try BrokerProcess(
            executable, named: "mosquitto", readyLine: " running",
            settings: { folder in
                var lines = ["listener \(port) 127.0.0.1"]
                if isSecure { lines += ["certfile \(folder)/broker.pem", "keyfile \(folder)/broker.key"] }
                // As root it would become the user mosquitto, who cannot read the folder.
                if geteuid() == 0 { lines.append("user root") }
                lines += settings.map { $0.replacingOccurrences(of: "{folder}", with: folder) }
                if !settings.contains(where: { $0.hasPrefix("persistence ") }) { lines.append("persistence false") }
                lines += ["persistence_location \(folder)/", "log_dest stderr"]
                lines += ["error", "warning", "notice", "information"].map { "log_type \($0)" }
                return lines.joined(separator: "\n") + "\n"
            }, arguments: { ["-c", $0] })
        certificates = isSecure ? try await Self.makeCertificates(in: process.folder) : nil
    }

    /// Runs a broker during the body, and ends it in every case.
    public static func with<Result>(
        _ settings: [String] = ["allow_anonymous true"], isSecure: Bool = false, users: [String: String] = [:],
        isolation: isolated (any Actor)? = #isolation, _ body: (MosquittoBroker) async throws -> Result
    ) async throws -> Result {
        let broker = try await MosquittoBroker(settings, isSecure: isSecure)
        if !users.isEmpty { try await broker.setPasswords(users) }
        return try await carryOut {
            try await broker.start()
            return try await body(broker)
        } finally: {
            await broker.kill()
        }
    }

    public func restart() async throws {
        await kill()
        try await start()
    }

    /// Waits for a line of its log that contains a text.
    public func logLine(containing text: String) async throws {
        guard let child = process.running else { throw TestSupportError("the broker was not started") }
        try await child.nextLine(of: .error, "'\(text)' in the broker's log") { $0.contains(text) }
    }

    /// Writes a file into its folder, such as an access list. A broker reads it when it starts.
    public func write(_ text: String, to file: String) throws {
        try text.write(toFile: "\(process.folder)/\(file)", atomically: false, encoding: .utf8)
    }

    /// Writes `{folder}/passwords`, which the settings name with `password_file {folder}/passwords`.
    private func setPasswords(_ users: [String: String]) async throws {
        try write("", to: "passwords")
        for (user, password) in users {
            try await ChildProcess.run(
                MQTTPeers.program("mosquitto_passwd") ?? "mosquitto_passwd",
                ["-b", "\(process.folder)/passwords", user, password])
        }
    }

    private static func makeCertificates(in folder: String) async throws -> Certificates {
        let certificates = Certificates(
            authority: "\(folder)/authority.pem", certificate: "\(folder)/broker.pem", key: "\(folder)/broker.key")
        let newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        try await ChildProcess.run(
            "openssl",
            ["req", "-x509"] + newKey + ["-days", "30", "-subj", "/CN=An authority of tests"]
                + ["-keyout", "\(folder)/authority.key", "-out", certificates.authority])
        try await ChildProcess.run(
            "openssl",
            ["req", "-new"] + newKey + ["-subj", "/CN=localhost"]
                + ["-keyout", certificates.key, "-out", "\(folder)/request"])
        let names = "subjectAltName=DNS:localhost,IP:127.0.0.1\n"
        try names.write(toFile: "\(folder)/names", atomically: false, encoding: .utf8)
        try await ChildProcess.run(
            "openssl",
            ["x509", "-req", "-days", "30", "-in", "\(folder)/request", "-extfile", "\(folder)/names"]
                + ["-CA", certificates.authority, "-CAkey", "\(folder)/authority.key", "-CAcreateserial"]
                + ["-out", certificates.certificate])
        return certificates
    }
}

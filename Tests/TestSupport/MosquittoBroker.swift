import Foundation
import Support

/// Debian's mosquitto as a private process of a test, on a loopback port that stays its own between two starts.
///
/// It keeps nothing on disk: a broker that is killed and started again has forgotten what was retained, unless the
/// settings say `persistence true`.
public final class MosquittoBroker: Sendable {
    /// What a broker with TLS has: files in PEM form.
    public struct Certificates: Sendable {
        /// The certificate of the authority that signed the broker's own, which clients have to trust.
        public let authority: String
        /// The broker's certificate, for `localhost` and 127.0.0.1.
        public let certificate: String
        /// The broker's key.
        public let key: String

        /// The certificate of the authority in PEM form.
        public var authorityPEM: [UInt8] { get throws { try Array(Data(contentsOf: URL(fileURLWithPath: authority))) } }
    }

    /// The port it listens on, at 127.0.0.1.
    public let port: Int
    /// The certificates of a broker with TLS.
    public let certificates: Certificates?
    private let folder: String
    private let process = Locked<ChildProcess?>(nil)

    private static let executable =
        MQTTPeers.program("mosquitto")
        ?? ["/usr/sbin", "/usr/local/sbin"].map { "\($0)/mosquitto" }
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    /// Why there is no broker here, or nil.
    public static var unavailableReason: String? {
        executable == nil ? "mosquitto is missing: run Tests/mqtt-peers/install" : nil
    }

    /// Prepares a broker; ``start()`` starts it.
    ///
    /// - Parameters:
    ///   - settings: lines of mosquitto's configuration; without `listener`, which is added, and with `{folder}` for a
    ///     folder of the broker's own, as in `password_file {folder}/passwords`.
    ///   - port: the port to listen on; one that is free if `nil`.
    ///   - isSecure: whether the port speaks TLS, with certificates that `openssl` makes.
    public init(
        _ settings: [String] = ["allow_anonymous true"], port: Int? = nil, isSecure: Bool = false
    ) async throws {
        if let reason = Self.unavailableReason { throw TestSupportError(reason) }
        self.port = try port ?? LastingPort.next()
        folder = FileManager.default.temporaryDirectory.appending(path: "mosquitto-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        certificates = isSecure ? try await Self.makeCertificates(in: folder) : nil
        var lines = ["listener \(self.port) 127.0.0.1"]
        if let certificates { lines += ["certfile \(certificates.certificate)", "keyfile \(certificates.key)"] }
        // As root it would become the user mosquitto, who cannot read the folder.
        if geteuid() == 0 { lines.append("user root") }
        lines += settings.map { $0.replacingOccurrences(of: "{folder}", with: folder) }
        if !settings.contains(where: { $0.hasPrefix("persistence ") }) { lines.append("persistence false") }
        lines += ["persistence_location \(folder)/", "log_dest stderr"]
        lines += ["error", "warning", "notice", "information"].map { "log_type \($0)" }
        try write(lines.joined(separator: "\n") + "\n", to: "mosquitto.conf")
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// Runs a broker during the body, and ends it in every case.
    public static func with<Result>(
        _ settings: [String] = ["allow_anonymous true"], port: Int? = nil, isSecure: Bool = false,
        users: [String: String] = [:], isolation: isolated (any Actor)? = #isolation,
        _ body: (MosquittoBroker) async throws -> Result
    ) async throws -> Result {
        let broker = try await MosquittoBroker(settings, port: port, isSecure: isSecure)
        if !users.isEmpty { try await broker.setPasswords(users) }
        do {
            try await broker.start()
            let result = try await body(broker)
            await broker.kill()
            return result
        } catch {
            await broker.kill()
            throw error
        }
    }

    /// Starts it unless it runs, and returns when it listens.
    public func start() async throws {
        guard process.withLock({ $0?.isRunning }) != true, let executable = Self.executable else { return }
        let child = try ChildProcess(executable, ["-c", "\(folder)/mosquitto.conf"])
        process.withLock { $0 = child }
        // It says so once it listens, on standard error, for it does not flush standard output.
        try await child.nextLine(of: .error, timeout: .seconds(20), "that the broker runs") { $0.hasSuffix(" running") }
    }

    /// Ends it in good order, and returns when it has ended.
    public func stop() async throws {
        guard let child = process.withLock({ $0 }), child.isRunning else { return }
        child.send(signal: SIGCONT)
        child.send(signal: SIGTERM)
        try await child.waitForExit(timeout: .seconds(20))
    }

    /// Kills it as a crash would, and returns when it has ended.
    public func kill() async { await process.withLock { $0 }?.end() }

    /// Kills it and starts it again at the same port.
    public func restart() async throws {
        await kill()
        try await start()
    }

    /// Stops the process (SIGSTOP): its port still accepts connections, and nobody answers.
    public func pause() { process.withLock { $0 }?.send(signal: SIGSTOP) }

    /// Lets a stopped process go on (SIGCONT).
    public func resume() { process.withLock { $0 }?.send(signal: SIGCONT) }

    /// Waits for a line of its log that contains a text; lines before it are skipped for good.
    @discardableResult
    public func logLine(containing text: String) async throws -> String {
        guard let child = process.withLock({ $0 }) else { throw TestSupportError("the broker was not started") }
        return try await child.nextLine(of: .error, timeout: .seconds(30), "'\(text)' in the broker's log") {
            $0.contains(text)
        }
    }

    /// All that it logged since its last start.
    public var transcript: String { process.withLock { $0 }?.transcript ?? "" }

    /// The broker's process, for its memory and processor time.
    public var figures: ProcessFigures? { process.withLock { $0 }.map { ProcessFigures(of: $0) } }

    /// Writes a file into its folder, such as an access list. A broker reads it when it starts.
    public func write(_ text: String, to file: String) throws {
        try text.write(toFile: "\(folder)/\(file)", atomically: false, encoding: .utf8)
    }

    /// Writes `{folder}/passwords`, which the settings name with `password_file {folder}/passwords`.
    public func setPasswords(_ users: [String: String]) async throws {
        try write("", to: "passwords")
        for (user, password) in users {
            try await ChildProcess.run(
                MQTTPeers.program("mosquitto_passwd") ?? "mosquitto_passwd",
                ["-b", "\(folder)/passwords", user, password])
        }
    }

    /// An authority and a certificate that it signed.
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

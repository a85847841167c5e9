import ArgumentParser
import MQTT
import Support

struct BrokerOptions: ParsableArguments {
    @Option(
        name: .customLong("broker"),
        help: ArgumentHelp(
            "The broker: mqtt[s]://[USER@]HOST[:PORT].",
            discussion: "The ports are 1883, and 8883 with mqtts, which encrypts.", valueName: "url"),
        transform: MQTTAddress.init)
    var address: MQTTAddress

    @Option(
        help: ArgumentHelp(
            "A file with the user's password, read for each connection.",
            discussion: "Only a file: other users of this machine can see command lines.", valueName: "@file"))
    var password: String?

    @OptionGroup var certificates: CertificateOptions

    func validate() throws {
        if let password {
            _ = try Self.file(password)
            guard address.user != nil else {
                throw ValidationError("--password needs a user: mqtt://USER@\(address.host)")
            }
        }
        if !certificates.files.isEmpty, !address.isSecure {
            throw ValidationError("--trust needs an mqtts:// address")
        }
    }

    /// The maximum length of a password in MQTT, in bytes.
    private static let longestPassword = 65_535

    /// How to connect to the broker.
    func connection(_ output: OutputOptions) async throws -> MQTTOptions {
        var options = MQTTOptions()
        options.connectTimeout = output.limit
        options.logger = output.logger
        try await certificates.load(output) { try options.trustCertificates(pem: $0) }
        if let password {
            let file = try Self.file(password)
            let limit = output.limit
            // Reads the file now, so that a failure is reported before the first connection.
            _ = try await file.text(atMost: Self.longestPassword, within: limit)
            options.password = { try await file.text(atMost: Self.longestPassword, within: limit) }
        }
        return options
    }

    private static func file(_ password: String) throws(ValidationError) -> SecretFile {
        try SecretFile(password, "--password", "password")
    }
}

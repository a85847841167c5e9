import ArgumentParser
import ElementalSecurity
import Support

struct TrustShowCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show this user's fingerprint; the first time, make its identity.",
        discussion: """
            Examples:
              $ elemental trust show
              $ elemental trust show --qr
            """)

    @Flag(name: .customLong("qr"), help: "Also show it as a QR code in the terminal.")
    var asQRCode = false

    @OptionGroup var state: StateOptions
    @OptionGroup var output: OutputOptions

    func perform(_ console: Console) async throws {
        let state = try await state.open()
        await console.emit(.identity(state.identity.fingerprint, directory: state.directory))
        if asQRCode { await console.show(qrCode: "\(state.identity.fingerprint)") }
    }
}

extension ConsoleEvent where Self == Notice {
    static func identity(_ fingerprint: Fingerprint, directory: String) -> Notice {
        Notice(
            "identity",
            [
                ("fingerprint", .string("\(fingerprint)")), ("id", .string(fingerprint.short)),
                ("state", .string(directory)),
            ], isResult: true, "\(fingerprint)")
    }
}

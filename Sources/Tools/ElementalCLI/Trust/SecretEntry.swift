import Elemental
import ElementalSecurity
import Support

/// Reads the code or secret that a service shows: from the command line, a terminal or standard input.
///
/// No message contains what was entered.
struct SecretEntry: Sendable {
    let given: String?
    let console: Console
    private let input = InputLines(limit: longestLine)

    /// In bytes; more than a pairing link has.
    static let longestLine = 4096

    /// Reads the secret. At a terminal, the user is asked again if the text cannot be a code; nothing is sent in between.
    func secret(for request: PairingRequest) async throws(CommandFailure) -> PairingSecret? {
        if let given { return try Self.parse(given, request) }
        let isTerminal = isatty(STDIN_FILENO) == 1
        if isTerminal {
            TerminalSettings().hideInput()
            let what = request.kind == .code ? "The six digits" : "The long secret"
            await console.talk("\(what) that \(request.service) shows (not displayed while you type):")
        }
        defer { if isTerminal { TerminalSettings().restore() } }
        let entered = await Interruption.limit(to: request.timeLeft) { await read(request, asksAgain: isTerminal) }
        guard let entered else {
            if Task.isCancelled { return nil }
            throw CommandFailure(
                "pairingClosed", "nothing was entered while \(request.service) accepted it; nothing was stored")
        }
        return try entered.get()
    }

    private func read(
        _ request: PairingRequest, asksAgain: Bool
    ) async -> Result<PairingSecret?, CommandFailure> {
        while true {
            guard let line = await input.next() else {
                if Task.isCancelled { return .success(nil) }
                return .failure(
                    CommandFailure("invalidText", "standard input has no code; nothing was sent to \(request.service)"))
            }
            do throws(CommandFailure) {
                guard case .success(let text) = line else { throw Self.invalid(request) }
                return .success(try Self.parse(text, request))
            } catch {
                guard asksAgain else { return .failure(error) }
                await console.talk("\(error.description); enter it again, or Ctrl-C:")
            }
        }
    }

    private static func parse(_ text: String, _ request: PairingRequest) throws(CommandFailure) -> PairingSecret {
        let text = text.trimmed
        let secret =
            switch request.kind {
            case .code: PairingSecret(code: text)
            case .secret: PairingSecret(secret: text) ?? PairingLink(text)?.secret
            }
        guard let secret else { throw invalid(request) }
        return secret
    }

    private static func invalid(_ request: PairingRequest) -> CommandFailure {
        let what =
            request.kind == .code
            ? "a code has six digits"
            : "the service wants its long secret, 32 letters and digits, or its link"
        return CommandFailure("invalidText", "\(what); nothing was sent to \(request.service)")
    }
}

/// `CODE` or `@FILE` on the command line. A long secret is not accepted there.
enum CodeArgument {
    static func isValid(_ argument: String) -> Bool {
        argument.hasPrefix("@") ? argument.count > 1 : PairingSecret(code: argument) != nil
    }

    /// The code, or the first line of the file.
    static func text(_ argument: String, within timeout: Duration) async throws -> String {
        guard argument.hasPrefix("@") else { return argument }
        let file = try SecretFile(argument, "--code", "code")
        let text = try await file.text(atMost: SecretEntry.longestLine, within: timeout)
        return String(text.prefix { !$0.isNewline })
    }
}

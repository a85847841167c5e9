import ArgumentParser
import Support

/// `@FILE` on the command line: a file with a secret. Other users of this machine can see command lines.
struct SecretFile: Sendable {
    let path: String

    /// - Parameters:
    ///   - argument: the argument, as given on the command line.
    ///   - option: the option's name.
    ///   - secret: the kind of secret in the file, for the message.
    init(_ argument: String, _ option: String, _ secret: String) throws(ValidationError) {
        guard argument.hasPrefix("@"), argument.count > 1 else {
            throw ValidationError("\(option) takes @FILE, a file with the \(secret): others can see command lines")
        }
        path = String(argument.dropFirst())
    }

    /// The file's text, without a byte order mark and the end of its last line. Blanks may belong to a password.
    func text(atMost limit: Int, within timeout: Duration) async throws -> String {
        let content = try await FileContent.read(path, atMost: limit, timeout: timeout)
        return String(decoding: content.withoutByteOrderMark.withoutLineEnd, as: UTF8.self)
    }
}

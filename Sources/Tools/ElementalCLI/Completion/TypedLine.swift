/// A command line up to the cursor, with the quotes of a shell.
struct TypedLine: Sendable {
    enum Shell: String, CaseIterable, Sendable {
        case bash, zsh, fish
    }

    /// The words before the current one, without quotes and without the command's name.
    let words: [String]
    /// The word at the cursor as it is typed, with its quotes.
    let rawWord: String
    let shell: Shell

    /// The word at the cursor without its quotes.
    var word: String { Self.unquoted(rawWord, shell).text }

    init(_ line: String, _ shell: Shell) {
        var words: [String] = []
        var raw = ""
        var word = Unquoting(shell)
        for scalar in line.unicodeScalars {
            if word.isAtBlank(scalar) {
                if !raw.isEmpty { words.append(word.text) }
                (raw, word) = ("", Unquoting(shell))
            } else {
                word.take(scalar)
                raw.unicodeScalars.append(scalar)
            }
        }
        self.words = Array(words.dropFirst())
        self.shell = shell
        rawWord = raw
        isAtCommand = words.isEmpty
    }

    /// Whether the word at the cursor is the command's name.
    let isAtCommand: Bool

    /// A text without its quotes, and the quote that is still open at its end.
    static func unquoted(_ raw: String, _ shell: Shell) -> (text: String, quote: Unicode.Scalar?) {
        var word = Unquoting(shell)
        for scalar in raw.unicodeScalars { word.take(scalar) }
        return (word.text, word.quote)
    }

    /// The text with which bash replaces `replaced`, the end of the word at the cursor, for a candidate; `nil` if the
    /// candidate does not begin like the word.
    ///
    /// bash inserts it as it is. With an open quote it begins with that quote, which then replaces the typed one.
    func replacement(_ candidate: String, of replaced: String) -> String? {
        let kept = rawWord.hasSuffix(replaced) ? String(rawWord.dropLast(replaced.count)) : ""
        let (beginning, quote) = Self.unquoted(kept, shell)
        guard candidate.utf8.starts(with: beginning.utf8) else { return nil }
        let rest = String(decoding: candidate.utf8.dropFirst(beginning.utf8.count), as: UTF8.self)
        switch quote {
        case nil: return rest.isEmpty ? rest : rest.shellArgument
        case "'": return "'" + rest.replacing("'", with: #"'\''"#) + "'"
        default:
            var text = "\""
            for scalar in rest.unicodeScalars {
                switch scalar {
                case "$", "`", "\"", "\\": text += "\\\(scalar)"
                // History expansion: a backslash would stay in the text.
                case "!": text += #""'!'""#
                default: text.unicodeScalars.append(scalar)
                }
            }
            return text + "\""
        }
    }
}

private struct Unquoting {
    private let shell: TypedLine.Shell
    private(set) var text = ""
    private(set) var quote: Unicode.Scalar?
    private var isEscaped = false

    init(_ shell: TypedLine.Shell) { self.shell = shell }

    func isAtBlank(_ scalar: Unicode.Scalar) -> Bool {
        quote == nil && !isEscaped && (scalar == " " || scalar == "\t" || scalar == "\n")
    }

    mutating func take(_ scalar: Unicode.Scalar) {
        if isEscaped {
            isEscaped = false
            let isSpecial =
                switch quote {
                case nil: true
                case "'": scalar == "'" || scalar == "\\"
                default: ["$", "\"", "\\", "\n"].contains(scalar) || scalar == "`" && shell != .fish
                }
            if !isSpecial { text += "\\" }
            if scalar != "\n" { text.unicodeScalars.append(scalar) }
        } else if scalar == "\\", quote != "'" || shell == .fish {
            isEscaped = true
        } else if quote == nil, scalar == "'" || scalar == "\"" {
            quote = scalar
        } else if quote == scalar {
            quote = nil
        } else {
            text.unicodeScalars.append(scalar)
        }
    }
}

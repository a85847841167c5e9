/// A line of input in a session, parsed.
enum SessionLine: Sendable, Hashable {
    case list
    case get([String])
    case set(String)
    /// Empty for all elements.
    case watch([String])
    /// Empty for all elements.
    case unwatch([String])
    case stats
    case ping
    case help
    case quit

    static let helpText = """
        list                 show the elements with their newest values
        get NAME…            print values; without a name, all that have arrived
        set NAME=VALUE       send a value; @FILE reads a string or data from a file
        watch [NAME…]        print values as they arrive; without a name, all
        unwatch [NAME…]      stop printing them
        stats                show what the connection has transferred
        ping                 measure a round trip
        quit                 end the session
        A name with spaces goes in quotes: get "Left arm"
        """

    private static let words = ["list", "get", "set", "watch", "unwatch", "stats", "ping", "help", "quit"]

    /// Parses a line; `nil` if it is empty.
    init?(parsing line: String) throws {
        let line = line.trimmed
        guard !line.isEmpty else { return nil }
        let end = line.unicodeScalars.firstIndex { $0.properties.isWhitespace } ?? line.endIndex
        let word = line[..<end]
        let rest = String(line[end...]).trimmed
        switch word.lowercased() {
        case "list", "ls", "describe": self = .list
        case "get": self = .get(try Self.names(rest))
        case "set":
            guard rest.utf8.contains(UInt8(ascii: "=")) else { throw CommandFailure("usage", "set takes NAME=VALUE") }
            self = .set(rest)
        case "watch": self = .watch(try Self.names(rest))
        case "unwatch": self = .unwatch(try Self.names(rest))
        case "stats": self = .stats
        case "ping": self = .ping
        case "help", "?": self = .help
        case "quit", "exit", "q": self = .quit
        default:
            throw CommandFailure.unknownName(String(word), "command", among: Self.words, where: "a session")
        }
    }

    /// Splits the text into words; text in quotes is one word.
    private static func names(_ text: String) throws -> [String] {
        var names: [String] = []
        var name = String.UnicodeScalarView()
        var isInName = false
        var quote: Unicode.Scalar?
        for scalar in text.unicodeScalars {
            if let open = quote {
                if scalar == open { quote = nil } else { name.append(scalar) }
            } else if scalar == "\"" || scalar == "'" {
                quote = scalar
                isInName = true
            } else if !scalar.properties.isWhitespace {
                name.append(scalar)
                isInName = true
            } else if isInName {
                names.append(String(name))
                name = String.UnicodeScalarView()
                isInName = false
            }
        }
        guard quote == nil else { throw CommandFailure("usage", "the closing quote is missing") }
        if isInName { names.append(String(name)) }
        return names
    }
}

extension String {
    var trimmed: String {
        let isText = { (scalar: Unicode.Scalar) in !scalar.properties.isWhitespace }
        guard let first = unicodeScalars.firstIndex(where: isText), let last = unicodeScalars.lastIndex(where: isText)
        else { return "" }
        return String(self[first..<unicodeScalars.index(after: last)])
    }
}

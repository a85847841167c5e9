/// The possible kinds of the word at the cursor.
struct CompletionContext: Sendable {
    enum Kind: Equatable, Sendable {
        case words([String])
        case files
        case targets
        case services
        case aliases
        /// An element of that target that can be read.
        case elements(of: String)
        /// An element of that target that can be set, and its value.
        case assignments(of: String)
    }

    private(set) var kinds: [Kind] = []
    /// The word without the option before its value, such as `--security=`.
    private(set) var word: String
    /// The option before the value, with its `=`.
    private(set) var beginning = ""
    private(set) var state: String?

    init(_ line: TypedLine, _ root: CommandTree) {
        word = line.word
        guard !line.isAtCommand else { return }
        var command = root
        var positionals: [String] = []
        var option: CommandTree.Argument?
        var isPastOptions = false
        var isHelp = false
        for typed in line.words {
            if let taking = option {
                note(taking, typed)
                option = nil
            } else if !isPastOptions, typed == "--" {
                isPastOptions = true
            } else if !isPastOptions, typed.hasPrefix("-"), typed.count > 1 {
                let parts = typed.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard let taking = command.implied.option(taking: String(parts[0])) else { continue }
                if parts.count == 2 { note(taking, String(parts[1])) } else { option = taking }
            } else if positionals.isEmpty, !isHelp, typed == "help", command.commandName == root.commandName {
                isHelp = true
            } else if positionals.isEmpty, let next = command.commands.first(where: { $0.commandName == typed }) {
                command = next
            } else {
                positionals.append(typed)
            }
        }
        if let option {
            kinds = Self.kinds(of: option, target: "")
        } else if !isPastOptions, word.hasPrefix("-") {
            completeOption(of: command.implied)
        } else {
            if positionals.isEmpty { kinds = [.words(command.commands.map(\.commandName))] }
            let known = command.implied.positionals
            guard !isHelp, let last = known.last else { return }
            let place = positionals.count
            guard place < known.count || last.isRepeating else { return }
            let target = zip(known, positionals).first { $0.0.valueName == "target" }?.1 ?? ""
            kinds += Self.kinds(of: place < known.count ? known[place] : last, target: target)
        }
    }

    private mutating func note(_ option: CommandTree.Argument, _ value: String) {
        if option.names?.contains(where: { $0.text == "--state" }) == true { state = value }
    }

    private mutating func completeOption(of command: CommandTree) {
        guard let equal = word.firstIndex(of: "=") else {
            kinds = [.words(command.options.flatMap { ($0.names ?? []).map(\.text) } + ["--help", "--version"])]
            return
        }
        guard let option = command.option(taking: String(word[..<equal])) else { return }
        beginning = String(word[...equal])
        word = String(word[word.index(after: equal)...])
        kinds = Self.kinds(of: option, target: "")
    }

    /// The kinds of an argument's value: its choices, or the kind that the value's name in the help implies.
    private static func kinds(of argument: CommandTree.Argument, target: String) -> [Kind] {
        let completion = argument.completionKind ?? [:]
        if let words = completion["list"]?.values { return [.words(words)] }
        if completion["file"] != nil || completion["directory"] != nil { return [.files] }
        let isPositional = argument.kind == "positional"
        switch argument.valueName {
        case "target": return [.targets]
        case "file-or-target": return [.targets, .files]
        case "service": return [.services]
        case "alias" where !isPositional: return [.aliases]
        case "name" where isPositional: return [.elements(of: target)]
        case "name=value": return [.assignments(of: target)]
        case "file", "dir", "path", "device", "line", "program.prg": return [.files]
        default: return []
        }
    }
}

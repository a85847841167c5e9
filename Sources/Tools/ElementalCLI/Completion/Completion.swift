import Elemental
import Support

/// Answers the shells' completion scripts with the candidates for the word at the cursor.
///
/// Names come from the network. A completion does not connect to services: it browses for a moment, and takes elements
/// from the cache that earlier commands have filled.
struct Completion: Sendable {
    /// The first argument of the scripts' calls.
    static let argument = "---complete"
    private static let browsingTime = Duration.milliseconds(300)
    private static let maximumCount = 1000
    private static let maximumByteCount = 1024

    /// How the shell uses the candidates: the first line of the answer.
    private enum AnswerKind: String {
        /// Each candidate is a whole word.
        case words
        /// Each candidate is the beginning of a word.
        case beginnings
        /// The word is the name of a file.
        case files
    }

    private let line: TypedLine
    private let context: CompletionContext
    private let state: StateOptions

    private init(_ line: TypedLine) throws {
        self.line = line
        context = CompletionContext(line, CommandTree(ElementalCommand.self))
        state = try StateOptions.parse(context.state.map { ["--state", $0] } ?? [])
    }

    /// Writes the answer if the arguments are those of a completion script, or the script if they request it.
    ///
    /// - Parameter arguments: `---complete SHELL LINE [REPLACED]`, where LINE is up to the cursor and REPLACED is the
    ///   text that bash replaces with a candidate; or `--generate-completion-script SHELL`.
    /// - Returns: whether the arguments have one of these forms.
    static func answer(_ arguments: [String]) async -> Bool {
        guard arguments.count >= 2, let shell = TypedLine.Shell(rawValue: arguments[1]) else { return false }
        switch (arguments[0], arguments.count) {
        case ("--generate-completion-script", 2):
            write(shell.completionScript.split(separator: "\n", omittingEmptySubsequences: false).map(String.init))
        case (argument, 3), (argument, 4):
            guard let completion = try? Completion(TypedLine(arguments[2], shell)) else { return true }
            write(await completion.lines(replacing: arguments.count > 3 ? arguments[3] : ""))
        default: return false
        }
        return true
    }

    private static func write(_ lines: [String]) {
        for line in lines { StandardStreams.shared.write([Styled(line)], to: .output) }
    }

    private func lines(replacing replaced: String) async -> [String] {
        var names: Set<String> = []
        for kind in context.kinds { names.formUnion(await candidates(kind)) }
        let isOption = line.word.hasPrefix("-")
        let candidates = names.sorted().lazy
            .filter { $0.utf8.starts(with: context.word.utf8) && $0.utf8.count <= Self.maximumByteCount }
            // No control characters reach the terminal, and no name from the network is mistaken for an option.
            .filter { $0.printable == $0 && (isOption || !$0.hasPrefix("-")) }
            .map { context.beginning + $0 }
        let chosen = Array(candidates.prefix(Self.maximumCount))
        guard !chosen.isEmpty || !context.kinds.contains(.files) else { return [AnswerKind.files.rawValue] }
        let isBeginning = !chosen.isEmpty && chosen.allSatisfy { $0.hasSuffix("=") }
        return [(isBeginning ? AnswerKind.beginnings : .words).rawValue]
            + (line.shell == .bash ? chosen.compactMap { line.replacement($0, of: replaced) } : chosen)
    }

    private func candidates(_ kind: CompletionContext.Kind) async -> [String] {
        switch kind {
        case .words(let words): return words
        case .files: return []
        case .aliases: return Array(aliases.keys)
        case .services: return await found(nil).map(\.service)
        case .targets: return await targets()
        case .elements(let target): return elements(of: target).filter(\.isReadable).map(\.name)
        case .assignments(let target): return assignments(of: target)
        }
    }

    private var aliases: [String: String] { (try? state.aliases().targets) ?? [:] }

    private func targets() async -> [String] {
        let slash = context.word.firstIndex(of: "/")
        let services = await found(slash.map { String(context.word[..<$0]) })
        let instances = services.map { "\($0.service)/\($0.name)" } + state.completionCache.entries.map(\.target)
        let names = instances.filter { (try? Target(parsing: $0)) != nil }
        return names + names.compactMap { name in name.firstIndex(of: "/").map { String(name[..<$0]) } }
            + Array(aliases.keys)
    }

    private func elements(of target: String) -> [CompletionCache.Element] {
        state.completionCache.elements(of: aliases[target] ?? target)
    }

    /// NAME= of each element, or NAME=VALUE of the one whose name is typed.
    private func assignments(of target: String) -> [String] {
        let all = elements(of: target)
        let elements = all.filter { element in
            // Names may contain '='. A name that begins like an assignment to another element would set that element.
            element.isWritable && !all.contains { element.name.isBegun(by: $0.name + "=") }
        }
        if let element = elements.first(where: { context.word.isBegun(by: $0.name + "=") }) {
            let typed = context.word.utf8.prefix(element.name.utf8.count + 1)
            return element.values.map { String(decoding: typed, as: UTF8.self) + $0 }
        }
        return elements.map { $0.name + "=" }
    }

    private func found(_ service: String?) async -> [(service: String, name: String)] {
        guard let events = try? ElementalBrowser(service).events() else { return [] }
        let found = Locked<[(service: String, name: String)]>([])
        await Interruption.limit(to: Self.browsingTime) {
            for await event in events {
                switch event {
                case .found(let service), .updated(let service):
                    let count = found.withLock { found in
                        found.append((service.service, service.name))
                        return found.count
                    }
                    if count >= Self.maximumCount { return }
                case .failed: return
                case .gone, .unresolved: break
                }
            }
        }
        return found.withLock { $0 }
    }
}

extension String {
    /// Whether it begins with the other string, ignoring the case of ASCII letters.
    fileprivate func isBegun(by other: String) -> Bool {
        utf8.count >= other.utf8.count
            && String(decoding: utf8.prefix(other.utf8.count), as: UTF8.self).isSameName(as: other)
    }
}

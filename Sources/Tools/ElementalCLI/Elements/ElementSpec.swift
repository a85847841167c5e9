import Elemental

/// An element as it is spelled on the command line: `ID:NAME:TYPE[:udp][:latest][:rw|:ro|:wo][=INITIAL]`.
///
/// The name may contain spaces and `=`; what follows the first `=` after the type is the initial value as it is, with
/// any `:` and `=` in it.
struct ElementSpec: Sendable {
    static let form = "ID:NAME:TYPE[:udp][:latest][:rw|:ro|:wo][=INITIAL]"

    let definition: ElementDefinition
    /// The text behind `=`, as it was typed.
    let initial: String?

    /// What is wrong with a spelling, in words.
    struct Problem: Error, CustomStringConvertible {
        let description: String
    }

    init(parsing spec: String) throws(Problem) {
        func problem(_ text: String) -> Problem { Problem(description: text) }
        let parts = spec.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else {
            throw problem("\(parts.count == 1 ? "NAME and TYPE are" : "TYPE is") missing; write \(Self.form)")
        }
        guard let id = Int(parts[0]) else {
            throw problem("ID '\(parts[0].excerpt)' is not a number; give one from 0 to 127")
        }
        let sides = parts[2].split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let words = sides[0].split(separator: ":", omittingEmptySubsequences: false)
        guard let type = ElementType(name: words[0]) else { throw problem(Self.unknownType(String(words[0]))) }
        let options = try Options(words.dropFirst())
        do {
            definition = try ElementDefinition(
                id: id, name: String(parts[1]), type: type, transport: options.transport ?? .tcp,
                access: options.access ?? .readWrite, latest: options.latest)
        } catch {
            throw problem(error.message)
        }
        initial = sides.count == 2 ? String(sides[1]) : nil
        guard let initial else { return }
        guard definition.access.contains(.read) else {
            throw problem("a write-only element has no value to begin with; leave out '=\(initial.excerpt)'")
        }
        // A file is read when the service starts.
        if initial.hasPrefix("@"), type == .string || type == .data { return }
        do {
            _ = try ElementValue(text: initial, type: type)
        } catch {
            throw problem("INITIAL: \(error.message)")
        }
    }

    /// The words behind the type.
    private struct Options {
        var transport: Transport?
        var access: Access?
        var latest = false

        init(_ words: some Sequence<Substring>) throws(Problem) {
            for word in words {
                switch word {
                case "udp" where transport == nil: transport = .udp
                case "tcp" where transport == nil: transport = .tcp
                case "rw" where access == nil: access = .readWrite
                case "ro" where access == nil: access = .read
                case "wo" where access == nil: access = .write
                case "latest" where !latest: latest = true
                case "udp", "tcp", "rw", "ro", "wo", "latest":
                    throw Problem(description: "'\(word)' comes after another word of its kind; give one of them")
                default: throw Problem(description: "'\(word.excerpt)' is none of udp, latest, rw, ro, wo")
                }
            }
        }
    }

    private static func unknownType(_ word: String) -> String {
        let names = ElementType.allCases.map(\.name)
        let near = NearNames.closest(to: word, among: names)
        let hint =
            near.isEmpty ? "it is one of " + names.joined(separator: ", ") : "did you mean " + quotedList(near) + "?"
        return "TYPE '\(word.excerpt)' is unknown; \(hint)"
    }
}

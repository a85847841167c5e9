import ArgumentParser
import Elemental
import Support

/// An element from the command line, with everything that a catalogue can contain about it.
///
/// The name may contain spaces and `=`. The text after the first `=` behind the type is the initial value, unchanged,
/// with any `:` and `=` in it. ``ElementSpecOptions`` are between the two.
struct ElementSpec: Sendable {
    static let form = "ID:NAME:TYPE\(ElementSpecOptions.form)[=INITIAL]"

    let definition: ElementDefinition
    /// The text after `=`, as it was typed.
    let initial: String?

    init(parsing spec: String) throws {
        let parts = spec.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else {
            throw ValidationError("\(parts.count == 1 ? "NAME and TYPE are" : "TYPE is") missing; write \(Self.form)")
        }
        guard let id = Int(parts[0]) else {
            throw ValidationError("ID '\(parts[0].excerpt)' is not a number; give one from 0 to 127")
        }
        let sides = parts[2].splitUnescaped(at: "=", maxSplits: 1)
        let words = sides[0].splitUnescaped(at: ":")
        guard let type = ElementType(name: words[0]) else {
            throw ValidationError(words[0], Self.unknownType(words[0]))
        }
        let options = try ElementSpecOptions(words.dropFirst(), of: type)
        definition = try checked {
            try ElementDefinition(
                id: id, name: String(parts[1]), type: type, transport: options.transport ?? .tcp,
                unit: options.unit ?? "", range: options.range, step: options.step, choices: options.choices ?? [],
                access: options.access ?? .readWrite, latest: options.latest, readers: options.readers ?? .plain,
                writers: options.writers ?? .control, kind: options.kind ?? .state, timed: options.timed
            ).withHistory(options.history)
        }
        initial = sides.count == 2 ? String(sides[1]) : nil
        try checkInitial()
    }

    private func checkInitial() throws {
        guard let initial else { return }
        guard definition.access.contains(.read) else {
            throw ValidationError("a write-only element cannot have an initial value; leave out '=\(initial.excerpt)'")
        }
        // A file is read when the service starts.
        if initial.hasPrefix("@"), definition.type == .string || definition.type == .data { return }
        let value = try checked("INITIAL: ") { try ElementValue(text: initial, of: definition) }
        guard definition.allows(value) else {
            throw ValidationError(
                "INITIAL: '\(initial.excerpt)' is outside the element's range or not one of its choices")
        }
    }

    private static func unknownType(_ word: Substring) -> String {
        let names = ElementType.allCases.map(\.name)
        let near = NearNames.closest(to: String(word), among: names)
        return "is not a TYPE; "
            + (near.isEmpty ? "give one of " + names.joined(separator: ", ") : "did you mean " + quotedList(near) + "?")
    }
}

extension ValidationError {
    /// A problem with a part of an argument. The message quotes the part with its position.
    init(_ part: Substring, _ problem: String) {
        let place = part.base.distance(from: part.base.startIndex, to: part.startIndex) + 1
        self.init("'\(part.excerpt)' (at character \(place)) \(problem)")
    }
}

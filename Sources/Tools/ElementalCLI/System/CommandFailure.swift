import Elemental
import Support

/// Why a command failed: a message for a person, and a code of one word for programs.
struct CommandFailure: Error, CustomStringConvertible {
    let code: String
    let description: String

    init(_ code: String, _ message: String) {
        self.code = code
        description = message
    }

    var status: CommandStatus { CommandStatus(code: code) }

    /// Whether the command was only told to end.
    var isCancellation: Bool { code == "cancelled" }

    /// A name that is not among those of `place`, with suggestions.
    ///
    /// - Parameters:
    ///   - what: the kind of thing that has the name, such as "element".
    ///   - place: the subject of the sentence "… has no element 'x'".
    static func unknownName(_ name: String, _ what: String, among names: [String], where place: String)
        -> CommandFailure
    {
        let near = NearNames.closest(to: name, among: names)
        let hint =
            if names.isEmpty { "it has none" } else if near.isEmpty { "there are: " + quotedList(names, "and") } else {
                "did you mean " + quotedList(near) + "?"
            }
        return CommandFailure("unknownElement", "\(place) has no \(what) '\(name.excerpt)'; \(hint)")
    }
}

extension [CommandFailure] {
    /// The one that decides the exit status of a command with several.
    var decisive: CommandFailure? {
        let code = CommandStatus.decisive(map(\.code))
        return first { $0.code == code }
    }
}

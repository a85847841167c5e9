import Elemental
import Support

/// Why a command failed: a message for the user, and a code of one word for programs.
struct CommandFailure: Error, CustomStringConvertible {
    let code: String
    let description: String

    init(_ code: String, _ message: String) {
        self.code = code
        description = message
    }

    var status: CommandStatus { CommandStatus(code: code) }

    /// Whether the command was only cancelled.
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
    /// The failure that decides the exit status of a command with several failures.
    var decisive: CommandFailure? {
        let code = CommandStatus.decisive(map(\.code))
        return first { $0.code == code }
    }
}

/// How a command ended, as its exit status.
enum CommandStatus: Int32, CaseIterable {
    case success = 0
    case failed = 1
    /// The service refuses the value, the client or the pairing.
    case refused = 2
    /// No such service, host, element, peer or file.
    case notFound = 3
    /// The client is not paired, or its role does not permit it.
    case notAuthorised = 4
    case timedOut = 5
    /// A key other than the one that was paired.
    case otherIdentity = 6
    case usage = 64

    /// The status of a failure with that ``CommandFailure/code``. This is the only place that decides it.
    init(code: String) {
        self =
            switch code {
            case "refused", "outOfRange", "wrongType", "invalidValue", "emptyValue", "datagramTooLarge", "notAllowed",
                "pairingClosed", "nameTaken", "handshakeFailed", "subscriptionRefused", "unacceptableVersion",
                "identifierRejected", "serverUnavailable":
                .refused
            case "serviceNotFound", "hostNotFound", "unknownAlias", "unknownElement", "unknownPeer", "noSuchFile",
                "notFound":
                .notFound
            case "notPaired", "unauthenticated", "notAuthorised", "wrongCode", "badCredentials": .notAuthorised
            case "timedOut", "serverTimeout": .timedOut
            case "identityChanged", "alreadyPinned", "replaced": .otherIdentity
            case "usage": .usage
            default: .failed
            }
    }

    /// The first of these that occurs is the status of a command with several failures.
    private static let precedence: [CommandStatus] = [.otherIdentity, .notAuthorised, .notFound, .timedOut, .refused]

    static func decisive(_ codes: some Sequence<String>) -> String? { codes.min { rank(of: $0) < rank(of: $1) } }

    private static func rank(of code: String) -> Int {
        precedence.firstIndex(of: CommandStatus(code: code)) ?? precedence.count
    }
}

/// How a command ended, as scripts tell it apart.
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

    /// Which status a command with several failures has: the first of these.
    private static let precedence: [CommandStatus] = [.otherIdentity, .notAuthorised, .notFound, .timedOut, .refused]

    static func decisive(_ codes: some Sequence<String>) -> String? {
        codes.min { rank(of: $0) < rank(of: $1) }
    }

    private static func rank(of code: String) -> Int {
        precedence.firstIndex(of: CommandStatus(code: code)) ?? precedence.count
    }
}

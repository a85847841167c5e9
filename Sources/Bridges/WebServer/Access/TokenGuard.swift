internal import NIOCore
internal import Support

package enum TokenVerdict: Sendable {
    case accepted
    /// Wrong or missing.
    case wrong
    /// The client has sent too many wrong tokens: this one was not checked.
    case tooMany
}

/// Compares tokens with the server's, and stops for a host that guesses. The caller passes the time; there are no
/// timers.
struct TokenGuard {
    static let maximumHosts = 1024

    private let token: [UInt8]?
    private let maximum: Int
    private let period: TimeAmount
    private var wrong: [IPAddress: (count: Int, since: NIODeadline)] = [:]

    init(_ options: WebServerOptions) {
        token = options.token.map { Array($0.utf8) }
        maximum = options.limits.maximumWrongTokens
        period = TimeAmount(options.limits.wrongTokenPeriod)
    }

    var count: Int { wrong.count }

    mutating func check(_ given: String?, from host: IPAddress, at now: NIODeadline) -> TokenVerdict {
        guard let token else { return .accepted }
        let host = host.client
        if let entry = wrong[host] {
            if entry.since + period <= now {
                wrong[host] = nil
            } else if entry.count >= maximum {
                return .tooMany
            }
        }
        // A missing token is not a guess: the client does not know that one is required.
        guard let given else { return .wrong }
        if Self.areEqual(Array(given.utf8), token) { return .accepted }
        if wrong[host] == nil, wrong.count >= Self.maximumHosts {
            wrong = wrong.filter { $0.value.since + period > now }
            guard wrong.count < Self.maximumHosts else { return .tooMany }
        }
        wrong[host, default: (0, now)].count += 1
        return .wrong
    }

    /// Returns whether two tokens are equal, in a time that depends only on their lengths.
    private static func areEqual(_ given: [UInt8], _ token: [UInt8]) -> Bool {
        guard given.count == token.count else { return false }
        return zip(given, token).reduce(0 as UInt8) { $0 | $1.0 ^ $1.1 } == 0
    }
}

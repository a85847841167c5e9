import ElementalWire
import Zeroconf

/// What a service's TXT record says about its security. Anyone on the network can publish such a record, so it proves
/// nothing.
///
/// - `sec`: the policy's ``SecurityPolicy/code``.
/// - `id`: the first 16 characters of the service's fingerprint.
/// - `pair`: 1 while a client can be paired.
///
/// An open service says nothing: its record may have entries of the program's under these keys.
struct SecurityEntries: Hashable {
    private static let policyKey = "sec"
    private static let identityKey = "id"
    private static let pairingKey = "pair"
    static let keys = [policyKey, identityKey, pairingKey]

    private static let identityCharacterCount = 16

    /// The policy; `nil` if the record has one that this version does not know.
    var policy: SecurityPolicy?
    /// The beginning of the service's fingerprint.
    var shortFingerprint: String?
    /// Whether a client can be paired now.
    var isPairing = false

    init(policy: SecurityPolicy) { self.policy = policy }

    /// Reads the entries of a record.
    init(_ record: TXTRecord) {
        // A record without this key is not this framework's, whatever it has under the others.
        guard record[ServiceTXT.version] != nil, let text = record[Self.policyKey] else {
            policy = .open
            return
        }
        policy = SecurityPolicy.allCases.first { String($0.code) == text }
        guard !isSilent else { return }
        shortFingerprint = record[Self.identityKey].flatMap { Self.isShortFingerprint($0) ? $0 : nil }
        isPairing = record[Self.pairingKey] == "1"
    }

    private static func isShortFingerprint(_ text: String) -> Bool {
        text.utf8.count == identityCharacterCount
            && text.utf8.allSatisfy {
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
                    || (UInt8(ascii: "2")...UInt8(ascii: "7")).contains($0)
            }
    }

    /// Whether a record says nothing about it.
    var isSilent: Bool { policy == nil || policy == .open }

    func write(to record: inout TXTRecord) {
        guard let policy, !isSilent else { return }
        record[Self.policyKey] = String(policy.code)
        record[Self.identityKey] = shortFingerprint
        record[Self.pairingKey] = isPairing ? "1" : nil
    }
}

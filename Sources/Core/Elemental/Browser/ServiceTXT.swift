import ElementalWire
import Support
import Zeroconf

/// The framework's entries in a service's TXT record.
enum ServiceTXT {
    /// The version of the protocol extensions that the service supports. A service that has it sends a hello.
    static let version = "elemental"
    /// In the common listing: the service's own name, such as `robot`.
    static let service = "service"
    /// In the common listing: the instance's own name.
    static let instance = "instance"
    static let ownKeys = [version, service, instance]

    static func commonType() throws(ZeroconfError) -> ServiceType { try .tcp("elemental") }

    /// - Parameter instanceName: for the common listing; `nil` for the service's own listing.
    static func record(
        _ entries: [String: String], service: String, instanceName: String?, security: SecurityEntries
    ) throws(ZeroconfError) -> TXTRecord {
        let ownKeys = security.frameworkKeys
        if let taken = entries.keys.first(where: { ownKeys.contains(where: $0.isSameName) }) {
            throw ZeroconfError(
                .invalidTXTRecord, "the TXT key \"\(taken)\" is used by the framework itself; choose another one")
        }
        var record = TXTRecord()
        record[version] = String(Hello.currentVersion)
        if let instanceName {
            record[Self.service] = service
            record[instance] = instanceName
        }
        security.write(to: &record)
        for (key, value) in entries.sorted(by: { $0.key < $1.key }) { record[key] = value }
        return record
    }

    /// Includes the service's name, so that a robot and a lamp may both be called "Rover". A name has at most 63 UTF-8
    /// bytes.
    static func commonName(service: String, instance: String) -> String {
        let suffix = " (\(service))"
        var name = instance
        while name.utf8.count + suffix.utf8.count > 63 { name.removeLast() }
        return name + suffix
    }
}

/// What a service's TXT record says about its security. Anyone on the network can publish it, so it proves nothing.
///
/// - `sec`: the policy's ``SecurityPolicy/code``.
/// - `id`: the first 16 characters of the service's fingerprint.
/// - `pair`: 1 while a client can pair.
///
/// An open service has none of these entries; the program may use the keys for its own entries.
struct SecurityEntries: Hashable {
    private static let policyKey = "sec"
    private static let identityKey = "id"
    private static let pairingKey = "pair"

    private static let identityCharacterCount = 16

    /// `nil` for a policy that this version does not know.
    var policy: SecurityPolicy?
    var shortFingerprint: String?
    var isPairing = false

    init(policy: SecurityPolicy) { self.policy = policy }

    init(_ record: TXTRecord) {
        // A record without this key is not this framework's, whatever its other entries are.
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
            && text.utf8.allSatisfy("abcdefghijklmnopqrstuvwxyz234567".utf8.contains)
    }

    var isSilent: Bool { policy == nil || policy == .open }

    var frameworkKeys: [String] {
        ServiceTXT.ownKeys + (isSilent ? [] : [Self.policyKey, Self.identityKey, Self.pairingKey])
    }

    func write(to record: inout TXTRecord) {
        guard let policy, !isSilent else { return }
        record[Self.policyKey] = String(policy.code)
        record[Self.identityKey] = shortFingerprint
        record[Self.pairingKey] = isPairing ? "1" : nil
    }
}

/// The service instance that an entry of the common listing claims to be. The claim counts only if that instance itself
/// resolves to the same host and port.
enum ServiceClaim: Hashable {
    /// A service whose own type happens to be the common one.
    case nothing
    /// The claim is impossible.
    case invalid
    /// An instance of the service's own type.
    case instance(ServiceInstance)

    init(_ entry: ResolvedService) {
        guard entry.txt.contains(ServiceTXT.service) || entry.txt.contains(ServiceTXT.instance) else {
            self = .nothing
            return
        }
        guard let service = entry.txt[ServiceTXT.service], let name = entry.txt[ServiceTXT.instance],
            let type = try? ServiceType.tcp(service),
            // Such an instance is listed itself, under its own name.
            type != entry.instance.type,
            (try? ServiceName.check(name)) != nil
        else {
            self = .invalid
            return
        }
        self = .instance(ServiceInstance(name: name, type: type, domain: entry.instance.domain))
    }
}

import ElementalWire
import Support
import Zeroconf

/// The framework's entries in a service's TXT record.
enum ServiceTXT {
    /// The version of the protocol extensions that the service supports; its presence tells a client that the service
    /// says hello.
    static let version = "elemental"
    /// In the common listing: the service's own name, such as `robot`.
    static let service = "service"
    /// In the common listing: the instance's own name.
    static let instance = "instance"
    static let ownKeys = [version, service, instance]

    static func commonType() throws(ZeroconfError) -> ServiceType { try .tcp("elemental") }

    /// - Parameters:
    ///   - entries: the program's own.
    ///   - service: the service's name, such as `robot`.
    ///   - instanceName: the instance's own name, for the common listing.
    ///   - security: what the record says about the service's security.
    /// - Throws: ``ZeroconfError/Code/invalidTXTRecord`` if one of the program's entries uses one of the framework's
    ///   keys.
    static func record(
        _ entries: [String: String], service: String, instanceName: String?, security: SecurityEntries
    ) throws(ZeroconfError) -> TXTRecord {
        let ownKeys = security.isSilent ? ownKeys : ownKeys + SecurityEntries.keys
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

    /// The name in the common listing: includes the service's, so that a robot and a lamp may both be called "Rover". A
    /// name has at most 63 UTF-8 bytes; the instance's is truncated if both do not fit.
    static func commonName(service: String, instance: String) -> String {
        let suffix = " (\(service))"
        var name = instance
        while name.utf8.count + suffix.utf8.count > 63 { name.removeLast() }
        return name + suffix
    }
}

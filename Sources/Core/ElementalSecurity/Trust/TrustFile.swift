import Support

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The JSON text of ``TrustedPeers``. Parsing is strict: an unknown key or a wrong value makes the whole text corrupt,
/// because an unknown part might restrict something. Only roles may be unknown.
enum TrustFile {
    /// The maximum size of the text, in bytes.
    static let maximumByteCount = 1 << 20
    fileprivate static let version = 1

    static func text(_ peers: TrustedPeers) throws(SecurityError) -> [UInt8] {
        try peers.validate()
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        guard let text = try? encoder.encode(File(peers)) else {
            throw SecurityError(.invalidPeer, "the trusted peers cannot be written as JSON")
        }
        guard text.count < maximumByteCount else { throw .full("clients and services") }
        return Array(text) + [UInt8(ascii: "\n")]
    }

    static func peers(_ text: [UInt8]) throws(SecurityError) -> TrustedPeers {
        guard text.count <= maximumByteCount else {
            throw SecurityError(.corrupt, "it is larger than \(maximumByteCount) bytes")
        }
        var peers: TrustedPeers
        do {
            peers = try JSONDecoder().decode(File.self, from: Data(text)).peers
        } catch let error as DecodingError {
            throw SecurityError(.corrupt, error.place)
        } catch {
            throw SecurityError(.corrupt, "it is not the JSON of a trust store")
        }
        do {
            try peers.mergeServices()
            try peers.validate()
        } catch {
            throw SecurityError(.corrupt, error.message)
        }
        return peers
    }
}

extension TrustedPeers {
    /// Merges entries whose names differ only in case. Earlier versions treated them as different.
    ///
    /// - Throws: ``SecurityError/Code/alreadyPinned`` if they have different keys.
    fileprivate mutating func mergeServices() throws(SecurityError) {
        var places: [[ComparableName]: Int] = [:]
        var merged: [TrustedService] = []
        for service in services {
            let names = [ComparableName(service.service), ComparableName(service.instance)]
            guard let place = places[names] else {
                places[names] = merged.count
                merged.append(service)
                continue
            }
            let other = merged[place]
            guard !service.isPending, !other.isPending else {
                if other.isPending { merged[place] = service }
                continue
            }
            guard other.fingerprint == service.fingerprint else {
                throw SecurityError(
                    .alreadyPinned,
                    "\(other.service)/\"\(other.instance)\" and \(service.service)/\"\(service.instance)\" are one "
                        + "service, because case is ignored, but have two keys, \(other.fingerprint) and "
                        + "\(service.fingerprint): remove the wrong entry from the file")
            }
            merged[place] = other.merged(with: service)
        }
        services = merged
    }
}

/// The file as a whole.
private struct File: Codable {
    let version: Int
    let clients: [Client]
    let services: [Service]

    init(_ peers: TrustedPeers) {
        version = TrustFile.version
        clients = peers.clients.map(Client.init)
        services = peers.services.map(Service.init)
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(knowing: CodingKeys.self)
        version = try container.decode(Int.self, forKey: .version)
        guard version == TrustFile.version else {
            throw DecodingError.dataCorruptedError(
                forKey: .version, in: container,
                debugDescription: "the version is not \(TrustFile.version): update this program")
        }
        clients = try container.decode([Client].self, forKey: .clients)
        services = try container.decode([Service].self, forKey: .services)
    }

    var peers: TrustedPeers { TrustedPeers(clients: clients.map(\.client), services: services.map(\.service)) }

    enum CodingKeys: String, CodingKey, CaseIterable { case version, clients, services }
}

private struct Client: Codable {
    let client: TrustedClient

    init(_ client: TrustedClient) { self.client = client }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(knowing: CodingKeys.self)
        let names = try container.decode([String].self, forKey: .services)
        var client = TrustedClient(
            fingerprint: try container.decode(FingerprintText.self, forKey: .fingerprint).fingerprint,
            name: try container.decode(String.self, forKey: .name), role: .observe,
            services: names == [TrustedPeers.allServices] ? .all : .named(Set(names)),
            pairedBy: try container.decodeIfPresent(FingerprintText.self, forKey: .pairedBy)?.fingerprint)
        client.storedRole = StoredRole(name: try container.decode(String.self, forKey: .role))
        self.client = client
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(FingerprintText(client.fingerprint), forKey: .fingerprint)
        try container.encode(client.name, forKey: .name)
        try container.encode(client.storedRole.name, forKey: .role)
        switch client.services {
        case .all: try container.encode([TrustedPeers.allServices], forKey: .services)
        case .named(let names): try container.encode(names.sorted(), forKey: .services)
        }
        try container.encodeIfPresent(client.pairedBy.map(FingerprintText.init), forKey: .pairedBy)
    }

    enum CodingKeys: String, CodingKey, CaseIterable { case fingerprint, name, role, services, pairedBy }
}

private struct Service: Codable {
    let service: TrustedService

    init(_ service: TrustedService) { self.service = service }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(knowing: CodingKeys.self)
        var service = TrustedService(
            fingerprint: try container.decode(FingerprintText.self, forKey: .fingerprint).fingerprint,
            service: try container.decode(String.self, forKey: .service),
            instance: try container.decode(String.self, forKey: .instance),
            hosts: try container.decode([Host].self, forKey: .hosts).map(\.host), role: .observe)
        service.storedRole = StoredRole(name: try container.decode(String.self, forKey: .role))
        service.isPending = try container.decodeIfPresent(Bool.self, forKey: .pending) ?? false
        self.service = service
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        if service.isPending { try container.encode(true, forKey: .pending) }
        try container.encode(FingerprintText(service.fingerprint), forKey: .fingerprint)
        try container.encode(service.service, forKey: .service)
        try container.encode(service.instance, forKey: .instance)
        try container.encode(service.hosts.map(Host.init), forKey: .hosts)
        try container.encode(service.storedRole.name, forKey: .role)
    }

    enum CodingKeys: String, CodingKey, CaseIterable { case fingerprint, service, instance, hosts, role, pending }
}

private struct Host: Codable {
    let host: TrustedService.Host

    init(_ host: TrustedService.Host) { self.host = host }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(knowing: CodingKeys.self)
        host = TrustedService.Host(
            try container.decode(String.self, forKey: .host), port: try container.decode(UInt16.self, forKey: .port))
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(host.name, forKey: .host)
        try container.encode(host.port, forKey: .port)
    }

    enum CodingKeys: String, CodingKey, CaseIterable { case host, port }
}

private struct FingerprintText: Codable {
    let fingerprint: Fingerprint

    init(_ fingerprint: Fingerprint) { self.fingerprint = fingerprint }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let fingerprint = Fingerprint(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "a fingerprint needs 52 base32 characters")
        }
        self.fingerprint = fingerprint
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode("\(fingerprint)")
    }
}

/// Any key of a JSON object.
private struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

extension Decoder {
    /// The object, provided that it has only these keys.
    fileprivate func container<Key: CodingKey & CaseIterable & RawRepresentable<String>>(
        knowing keys: Key.Type
    ) throws -> KeyedDecodingContainer<Key> {
        let known = Set(keys.allCases.map(\.stringValue))
        let all = try container(keyedBy: AnyKey.self)
        if let unknown = all.allKeys.first(where: { !known.contains($0.stringValue) }) {
            throw DecodingError.dataCorruptedError(
                forKey: unknown, in: all, debugDescription: "an unknown key: update this program, which may be too old")
        }
        return try container(keyedBy: keys)
    }
}

extension DecodingError {
    /// The place of the error in the text, and the error.
    fileprivate var place: String {
        switch self {
        case .keyNotFound(let key, let context): Self.place(context, "\"\(key.stringValue)\" is missing")
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            Self.place(context, "the value has the wrong type")
        case .dataCorrupted(let context) where context.codingPath.isEmpty: "it is not JSON, or a number is out of range"
        case .dataCorrupted(let context): Self.place(context, context.debugDescription)
        @unknown default: "it is not the JSON of a trust store"
        }
    }

    private static func place(_ context: Context, _ text: String) -> String {
        let path = context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? ".\($0.stringValue.debugDescription)" }
        return path.isEmpty ? text : "\(path.joined().dropFirst(path[0].hasPrefix(".") ? 1 : 0)): \(text)"
    }
}

import Elemental
import ElementalSecurity
import ElementalWire
import Support

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The elements of the services to which commands have connected, kept in the state directory for completion.
struct CompletionCache: Codable, Equatable, Sendable {
    struct Element: Codable, Equatable, Sendable {
        let name: String
        let isReadable: Bool
        let isWritable: Bool
        /// The values to offer; empty if the element has no fixed set of them.
        let values: [String]
    }

    struct Entry: Codable, Equatable, Sendable {
        /// SERVICE/INSTANCE or HOST:PORT.
        let target: String
        /// The key that the service has proven; `nil` if the connection was not encrypted.
        let fingerprint: String?
        /// When a command was connected, in seconds since 1970.
        var time: Int
        let elements: [Element]

        /// Whether both are of the same service. A service without a proven key is never the same as one with a key.
        func isSameService(as other: Entry) -> Bool {
            fingerprint == other.fingerprint && target.isSameName(as: other.target)
        }
    }

    private(set) var entries: [Entry] = []

    static let file = "completion.json"
    static let maximumByteCount = 1 << 20
    private static let lifetime = 24 * 3600
    /// The age at which an unchanged entry is written again.
    private static let renewalTime = 3600
    /// The maximum size of an entry in bytes, so that one service cannot evict all others.
    private static let maximumEntryByteCount = 64 * 1024

    init() {}

    /// Parses the file, without entries that are too old or in the future. An invalid file has no entries.
    init(parsing bytes: [UInt8], now: Int) {
        guard let cache = try? JSONDecoder().decode(CompletionCache.self, from: Data(bytes)) else { return }
        entries = cache.entries.filter { (now - Self.lifetime + 1...now).contains($0.time) }
    }

    /// The newest elements of a target. Those of encrypted connections take precedence. SERVICE alone matches any instance.
    func elements(of target: String) -> [Element] {
        let isService = !target.contains("/") && !target.contains(":")
        let matches = entries.filter { entry in
            guard isService else { return entry.target.isSameName(as: target) }
            guard let slash = entry.target.firstIndex(of: "/") else { return false }
            return entry.target[..<slash].isSameName(as: target)
        }
        let proven = matches.filter { $0.fingerprint != nil }
        return (proven.isEmpty ? matches : proven).max { $0.time < $1.time }?.elements ?? []
    }

    /// Adds an entry, and returns whether the file has to be written. An unchanged entry is written at most once an hour.
    mutating func note(_ entry: Entry) -> Bool {
        guard Self.byteCount(of: entry) <= Self.maximumEntryByteCount else { return false }
        if let known = entries.firstIndex(where: { $0.isSameService(as: entry) }) {
            let isKnown =
                entries[known].elements == entry.elements && entry.time - entries[known].time < Self.renewalTime
            guard !isKnown else { return false }
            entries.remove(at: known)
        }
        entries.append(entry)
        // The oldest entries are evicted. The brackets and keys around them take a few more bytes.
        var room = Self.maximumByteCount - 1024
        let kept = entries.sorted { $0.time > $1.time }.prefix { entry in
            room -= Self.byteCount(of: entry) + 1
            return room >= 0
        }
        entries = Array(kept)
        return true
    }

    private static func byteCount(of entry: Entry) -> Int { (try? encoder.encode(entry))?.count ?? .max }

    private static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }

    var bytes: [UInt8] { (try? Self.encoder.encode(self)).map(Array.init) ?? [] }

    static var now: Int { Int(Date().timeIntervalSince1970) }
}

extension CompletionCache.Element {
    init(_ element: ElementDefinition) {
        name = element.name
        isReadable = element.access.contains(.read)
        isWritable = element.access.contains(.write)
        let choices = element.choices.prefix(256).map(\.name)
        values =
            switch element.type {
            case .bool: ["on", "off"]
            // A text that begins with @ would name a file of the user's, which would then be sent.
            case .string, .data: choices.map { $0.hasPrefix("@") ? "@" + $0 : $0 }
            default: choices
            }
    }
}

extension StateOptions {
    /// The cache of completion; empty if the file cannot be used. Blocks.
    var completionCache: CompletionCache {
        guard let bytes = try? stateFile(CompletionCache.file).read(limit: CompletionCache.maximumByteCount) else {
            return CompletionCache()
        }
        return CompletionCache(parsing: bytes, now: CompletionCache.now)
    }

    /// Stores the elements of a service for completion. Fails silently.
    func noteForCompletion(_ client: Client) async {
        guard client.givenElements == nil else { return }
        let entry = CompletionCache.Entry(
            target: client.place.target, fingerprint: client.device.fingerprint.map { "\($0)" },
            time: CompletionCache.now, elements: client.elements.map(CompletionCache.Element.init))
        _ = try? await Blocking.run {
            // If another command is writing, these elements are stored the next time.
            try stateFile(CompletionCache.file).update(
                limit: CompletionCache.maximumByteCount, lockTimeout: .zero, createsDirectory: true
            ) { content in
                var cache = content.map { CompletionCache(parsing: $0, now: entry.time) } ?? CompletionCache()
                return cache.note(entry) ? cache.bytes : nil
            }
        }
    }
}

internal import NIOCore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// An earlier description of a device: by this bridge before a restart, or by another bridge.
struct RetainedDiscovery: Sendable {
    var platforms: [String: String] = [:]
    /// The topics of the entities' values.
    var valueTopics: [String: String] = [:]
    var availability: [String] = []

    /// The maximum length of a message. All elements of a device take less than half of it.
    static let longest = 256 * 1024
    /// The maximum number of entities: 128 elements of up to four components.
    private static let mostEntities = 512

    mutating func merge(_ other: RetainedDiscovery) {
        platforms.merge(other.platforms) { own, _ in own }
        valueTopics.merge(other.valueTopics) { own, _ in own }
    }

    /// Returns the entities that are missing in the new message or have another platform there, by their keys.
    func removals(for message: DiscoveryMessage) -> [String: String] {
        let present = message.platforms
        return platforms.filter { present[$0.key] != $0.value }
    }

    /// The format that this bridge writes. Anything else under its topic is ignored.
    private struct Message: Decodable {
        let cmps: [String: Entity]
        let avty: [Availability]?
    }

    private struct Entity: Decodable {
        let p: String?
        let stat_t: String?
        let img_t: String?
    }

    private struct Availability: Decodable {
        let t: String?
    }
}

extension RetainedDiscovery {
    /// Decodes a message; empty if that fails.
    init(_ payload: ByteBuffer) {
        self.init()
        guard (1...Self.longest).contains(payload.readableBytes),
            let message = try? JSONDecoder().decode(Message.self, from: Data(payload.readableBytesView))
        else { return }
        for (key, entity) in message.cmps.prefix(Self.mostEntities) {
            guard let platform = entity.p, key.isTopicLevel, platform.isTopicLevel,
                max(key.utf8.count, platform.utf8.count) <= 64
            else { continue }
            platforms[key] = platform
            valueTopics[key] = entity.stat_t ?? entity.img_t
        }
        availability = (message.avty ?? []).prefix(8).compactMap(\.t)
    }
}

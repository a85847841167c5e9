internal import NIOCore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// What was told of a device earlier: by this bridge before it was started again, or by another one.
struct RetainedDiscovery: Sendable {
    var platforms: [String: String] = [:]
    /// Where they have their values.
    var valueTopics: [String: String] = [:]
    var availability: [String] = []

    /// Longer ones are not read. All elements of a device take less than half of it.
    static let longest = 256 * 1024
    /// More entities are not counted: 128 elements of up to four components.
    private static let mostEntities = 512

    mutating func merge(_ other: RetainedDiscovery) {
        platforms.merge(other.platforms) { own, _ in own }
        valueTopics.merge(other.valueTopics) { own, _ in own }
    }

    /// What removes the entities that are told no more, and those that are others now, by their keys.
    func removals(for message: DiscoveryMessage) -> [String: String] {
        let present = message.platforms
        return platforms.filter { present[$0.key] != $0.value }
    }

    /// As this bridge writes it: what others wrote under its topic is not taken apart.
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
    /// The content of a message; empty if it cannot be read.
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

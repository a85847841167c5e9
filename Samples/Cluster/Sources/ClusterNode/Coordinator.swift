import ClusterElements
import ClusterMembers
import Elemental
import Synchronization

/// Says where jobs go, if this node coordinates.
///
/// The coordinator is the node with the lowest name that is there. Nobody is elected and nothing is handed over: it knows
/// nothing that the next one would miss. While the network is cut in two, each half has one.
final class Coordinator: Sendable {
    private let members: Members
    /// What the network calls this node.
    private let name = Mutex("")
    /// When jobs were placed on a node since it last said how busy it is.
    private let placed = Mutex<[String: [ContinuousClock.Instant]]>([:])
    /// After which time a job that was placed counts as one that will not come.
    private static let longestWay = Duration.seconds(1)

    init(_ members: Members) { self.members = members }

    func isCalled(_ name: String) { self.name.withLock { $0 = name } }

    /// Whether this node coordinates. It is a member to itself: as long as it does not reach itself, it does not.
    var isHere: Bool { members.present.first?.name == name.withLock { $0 } }

    /// Follows the nodes until the task is cancelled.
    func run() async throws {
        try await members.run { [self] device in
            device.onValue(of: Cluster.busy) { [self] _, device in placed.withLock { $0[device.name] = nil } }
        }
    }

    /// The node with the most room; `nil` if none has any.
    func place() -> String? {
        let nodes = members.present
        return placed.withLock { placed in
            var best: (name: String?, room: Int) = (nil, 0)
            for node in nodes {
                guard let slots = node.value(of: Cluster.slots), let busy = node.value(of: Cluster.busy) else {
                    continue
                }
                placed[node.name]?.removeAll { $0 < .now - Self.longestWay }
                let room = Int(slots) - Int(busy) - (placed[node.name]?.count ?? 0)
                if room > best.room { best = (node.name, room) }
            }
            if let name = best.name { placed[name, default: []].append(.now) }
            return best.name
        }
    }
}

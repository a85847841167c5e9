internal import Elemental
internal import ElementalFollowing
internal import Support

/// Knows where the values of a file end in the histories of their elements, and reports it when they are on the disk.
// Unchecked because only the recorder's thread uses it.
final class PositionTracker: @unchecked Sendable {
    private struct Name: Hashable {
        let key: ServiceKey
        let element: String
    }

    private let start: UInt64
    private let report: @Sendable (RecordedPositions) -> Void
    private var names: [UInt16: Name] = [:]
    private var positions: [Name: (channel: UInt16, position: HistoryPosition)] = [:]
    private var hasChanged = false

    init(start: UInt64, _ report: @escaping @Sendable (RecordedPositions) -> Void) {
        self.start = start
        self.report = report
    }

    /// - Parameter areFlushed: whether the entries, and all before them, are in the file.
    func note(_ entries: [RecordQueue.Entry], of writer: MCAPWriter, areFlushed: Bool) {
        for entry in entries {
            switch entry {
            case .channel(let id, let channel):
                let key = ServiceKey(service: channel.service, name: channel.instance)
                names[id] = Name(key: key, element: channel.element.name)
            case .value(let channel, _, _, _, let position?):
                guard let name = names[channel] else { continue }
                positions[name] = (channel, position)
                hasChanged = true
            case .value, .event: break
            }
        }
        // A position must not be there before its value, even if the machine loses its power.
        guard areFlushed, hasChanged, (try? writer.synchronise()) != nil else { return }
        hasChanged = false
        let all = positions.map { name, end in
            RecordedPositions.Position(
                key: name.key, element: name.element, channel: end.channel, position: end.position)
        }
        report(RecordedPositions(start: start, byteCount: writer.byteCount, positions: all))
    }
}

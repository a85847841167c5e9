internal import Elemental
internal import ElementalFollowing
internal import Support

/// Tracks where the values of a file end in the histories of their elements, and reports it once they are on the disk.
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

    /// Records the entries that will be written. The position before an element's first value is reported before that
    /// value is written, so that a recorder that is killed afterwards leaves a position from which to count its values.
    func prepare(_ entries: [RecordQueue.Entry], of writer: MCAPWriter) {
        var beginnings: [Name: (channel: UInt16, position: HistoryPosition)] = [:]
        for entry in entries {
            switch entry {
            case .channel(let id, let channel):
                let key = ServiceKey(service: channel.service, name: channel.instance)
                names[id] = Name(key: key, element: channel.element.name)
            case .value(let channel, _, _, _, let position?):
                guard let name = names[channel] else { continue }
                if positions[name] == nil {
                    // The check value is 0, since the value before may be unknown.
                    let before = HistoryPosition(life: position.life, number: position.number &- 1, check: 0)
                    beginnings[name] = (channel, before)
                }
                positions[name] = (channel, position)
                hasChanged = true
            case .value, .event: break
            }
        }
        if !beginnings.isEmpty { report(beginnings, writer) }
    }

    /// - Parameter areFlushed: whether all entries are in the file.
    func written(by writer: MCAPWriter, areFlushed: Bool) {
        // A position must not be stored before its value, even if the machine loses power.
        guard areFlushed, hasChanged, (try? writer.synchronise()) != nil else { return }
        hasChanged = false
        report(positions, writer)
    }

    private func report(_ positions: [Name: (channel: UInt16, position: HistoryPosition)], _ writer: MCAPWriter) {
        let all = positions.map { name, end in
            RecordedPositions.Position(
                key: name.key, element: name.element, channel: end.channel, position: end.position)
        }
        report(RecordedPositions(start: start, byteCount: writer.byteCount, positions: all))
    }
}

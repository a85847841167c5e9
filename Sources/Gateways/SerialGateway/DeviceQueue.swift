import DequeModule
import ElementalWire

/// The values that wait for room on the line. Of an element marked `latest` only the newest waits.
struct DeviceQueue {
    /// The most bytes of frames that may wait.
    static let maximumByteCount = 1024 * 1024

    private enum Place {
        case value(SetValue)
        /// The place of the newest value of that element.
        case latest(Int8)
    }

    private var places: Deque<Place> = []
    private var latest: [Int8: SetValue] = [:]
    private(set) var byteCount = 0
    /// The bytes of all frames that were ever added.
    private(set) var addedByteCount = 0

    /// Adds a value.
    ///
    /// - Returns: false if too many wait.
    mutating func append(_ item: SetValue) -> Bool {
        let id = item.element.id
        let older = item.element.latest ? latest[id] : nil
        let count = byteCount + item.frameByteCount - (older?.frameByteCount ?? 0)
        guard count <= Self.maximumByteCount else { return false }
        addedByteCount += count - byteCount
        byteCount = count
        if item.element.latest {
            latest[id] = item
            if older == nil { places.append(.latest(id)) }
        } else {
            places.append(.value(item))
        }
        return true
    }

    /// The next value, which stays in the queue.
    var first: SetValue? {
        switch places.first {
        case .value(let item): item
        case .latest(let id): latest[id]
        case nil: nil
        }
    }

    mutating func removeFirst() {
        guard let item = first else { return }
        places.removeFirst()
        if item.element.latest { latest[item.element.id] = nil }
        byteCount -= item.frameByteCount
    }

    /// - Returns: all values in their order.
    mutating func removeAll() -> [SetValue] {
        var all: [SetValue] = []
        while let next = first {
            all.append(next)
            removeFirst()
        }
        return all
    }
}

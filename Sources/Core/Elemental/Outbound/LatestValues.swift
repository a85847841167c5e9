/// The unsent values of `latest` elements, one per element, in the order in which the elements were first set. They
/// wait in a queue until nothing else is to be sent or, without a connection, for a replacement.
struct LatestValues {
    private struct Entry {
        let id: Int8
        /// The frame's identifier: the element's, or the system's for a value with its time.
        var wireID: Int8
        var bytes: [UInt8]
    }

    private var entries: [Entry] = []
    private(set) var byteCount = 0
    private let headerByteCount: Int

    init(headerByteCount: Int) { self.headerByteCount = headerByteCount }

    var count: Int { entries.count }
    var isEmpty: Bool { entries.isEmpty }

    /// Whether there is a value that is not held back.
    @inline(__always)
    func hasValue(except held: IdentifierSet?) -> Bool {
        !entries.isEmpty && entries.contains { held?.contains($0.id) != true }
    }

    /// - Returns: whether it replaced an unsent value, whose storage is reused for one of the same length.
    mutating func set(_ id: Int8, as wireID: Int8? = nil, _ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let position = entries.firstIndex(where: { $0.id == id }) else {
            entries.append(Entry(id: id, wireID: wireID ?? id, bytes: Array(bytes)))
            byteCount += headerByteCount + bytes.count
            return false
        }
        entries[position].wireID = wireID ?? id
        let oldLength = entries[position].bytes.count
        if oldLength == bytes.count {
            entries[position].bytes.withUnsafeMutableBytes { $0.copyMemory(from: bytes) }
        } else {
            entries[position].bytes = Array(bytes)
            byteCount += bytes.count - oldLength
        }
        return true
    }

    /// Removes the values that are not held back, and passes the identifier and the bytes of each frame to `body`.
    mutating func removeAll(
        except held: IdentifierSet? = nil, _ body: (Int8, UnsafeRawBufferPointer) -> Void
    ) {
        var removedByteCount = 0
        entries.removeAll { entry in
            guard held?.contains(entry.id) != true else { return false }
            removedByteCount += headerByteCount + entry.bytes.count
            entry.bytes.withUnsafeBytes { body(entry.wireID, $0) }
            return true
        }
        byteCount -= removedByteCount
    }

    /// Removes and returns the first value of more than `length` bytes that is not held back.
    mutating func removeFirst(longerThan length: Int, except held: IdentifierSet?) -> (id: Int8, bytes: [UInt8])? {
        let position = entries.firstIndex { $0.bytes.count > length && held?.contains($0.id) != true }
        guard let position else { return nil }
        let entry = entries.remove(at: position)
        byteCount -= headerByteCount + entry.bytes.count
        return (entry.wireID, entry.bytes)
    }
}

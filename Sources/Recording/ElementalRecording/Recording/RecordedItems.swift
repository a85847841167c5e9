internal import Elemental
internal import NIOPosix
internal import Support

/// The values and events of a recording, read in batches on demand: one batch is in memory, and the next one is being
/// read.
public struct RecordedItems: AsyncSequence, Sendable {
    /// A value or an event.
    public typealias Element = RecordedItem

    let recording: Recording
    /// Counts the values that are left out while the items are read.
    public let losses: RecordingLosses

    /// Returns an iterator that reads the file from its beginning.
    public func makeAsyncIterator() -> Iterator { Iterator(recording: recording, losses: losses) }

    /// Reads the items, on a thread that may block.
    public struct Iterator: AsyncIteratorProtocol {
        private let reader: ItemReader
        private var batch: [RecordedItem] = []
        private var position = 0
        private var next: Task<[RecordedItem], any Error>?

        init(recording: Recording, losses: RecordingLosses) { reader = ItemReader(recording, losses: losses) }

        /// Returns the next value or event; `nil` at the end of the file.
        ///
        /// - Throws: ``RecordingError`` if the file cannot be read any more.
        public mutating func next() async throws -> RecordedItem? {
            while position == batch.count {
                batch = try await (next ?? read()).value
                position = 0
                guard !batch.isEmpty else { return nil }
                next = read()
            }
            defer { position += 1 }
            return batch[position]
        }

        private func read() -> Task<[RecordedItem], any Error> {
            Task { [reader] in try await NIOThreadPool.singleton.runIfActive { try reader.nextBatch() } }
        }
    }
}

/// Reads the items of a file. It blocks.
// Unchecked because it is used by one call at a time: each starts after the end of the one before.
final class ItemReader: @unchecked Sendable {
    /// The maximum number of items in a batch, and of the bytes of their messages; a single longer message is accepted.
    private static let batchLimit = (items: 512, bytes: 1 << 20)

    private let recording: Recording
    /// `nil` before the file is open.
    private var cursor: MCAPCursor?
    private let losses: RecordingLosses

    /// - Parameter source: a file to read instead of the recording's own.
    init(_ recording: Recording, _ source: RecordingFile? = nil, losses: RecordingLosses = RecordingLosses()) {
        self.recording = recording
        self.losses = losses
        cursor = source.map { MCAPCursor($0) }
    }

    func nextBatch() throws(RecordingError) -> [RecordedItem] {
        var batch: [RecordedItem] = []
        var byteCount = 0
        if cursor == nil { cursor = MCAPCursor(try RecordingFile(reading: recording.path)) }
        defer {
            if let cursor {
                // A file with a proper end should not be truncated before it.
                let cut = cursor.isCutOff && recording.isComplete ? 1 : 0
                losses.note(damageCount: cursor.damagedChunkCount + cursor.skippedRecordCount + cut)
            }
        }
        while batch.count < Self.batchLimit.items, byteCount < Self.batchLimit.bytes, let record = try cursor?.next() {
            switch record {
            case .message(let message):
                guard let item = item(of: message) else { continue }
                byteCount += message.data.count
                batch.append(item)
            // The summary's channels follow.
            case .dataEnd: return batch
            default: break
            }
        }
        return batch
    }

    /// Decodes a message; `nil` if it cannot be read.
    func item(of message: MCAP.Message) -> RecordedItem? {
        guard let content = content(of: message) else { return nil }
        let time = message.logTime > recording.start ? message.logTime - recording.start : 0
        return RecordedItem(time: .nanoseconds(Int64(clamping: time)), content: content)
    }

    private func content(of message: MCAP.Message) -> RecordedItem.Content? {
        switch recording.contents.uses[message.channelID] {
        case .element(let service, let element, let form):
            guard let value = form.value(of: message.data, element.type) else {
                losses.note(recording.name(of: element, service))
                return nil
            }
            let hasTime = element.timed || element.history != nil
            let age = hasTime ? Int64(bitPattern: message.logTime &- message.publishTime) : 0
            return .value(RecordedValue(service: service, element: element, value: value, age: .nanoseconds(age)))
        case .events:
            guard let event = RecordedEvent(message: message.data) else { return nil }
            let service = recording.services.firstIndex {
                $0.service == event.service && $0.instance == event.instance
            }
            return .event(event, service: service)
        case .unreadable(let topic):
            losses.note(topic)
            return nil
        case nil: return nil
        }
    }
}

/// Counts what is left out or may be damaged while a recording is read.
public final class RecordingLosses: Sendable {
    private struct State {
        var values: [String: Int] = [:]
        var damageCount = 0
    }

    private let state = Locked(State())

    /// Creates an object without losses.
    public init() {}

    /// The number of messages without a value of their element's type, or that are not JSON, by
    /// `SERVICE/INSTANCE/ELEMENT` or the topic. The keys contain names from the file.
    public var values: [String: Int] { state.withLock { $0.values } }

    /// The number of chunks with a wrong checksum, whose values may be wrong, and of invalid records.
    public var damageCount: Int { state.withLock { $0.damageCount } }

    /// Whether nothing is lost.
    public var isEmpty: Bool { state.withLock { $0.values.isEmpty && $0.damageCount == 0 } }

    func note(_ name: String) { state.withLock { $0.values[name, default: 0] += 1 } }

    func note(damageCount: Int) { state.withLock { $0.damageCount = damageCount } }

    /// Resets the counts, because the file is read again.
    func reset() { state.withLock { $0 = State() } }
}

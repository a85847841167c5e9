public import Elemental
package import ElementalFollowing
internal import NIOPosix
internal import Support

/// A recording that can be read: what is in the file, and its values in the order in which they came.
///
/// ```swift
/// let recording = try await Recording(path: "robot.mcap")
/// for try await item in recording.items {
///     if case .value(let value) = item.content { print(item.time, value.element.name, value.value) }
/// }
/// ```
/// Every MCAP file whose messages are JSON and whose chunks are not compressed can be read, whoever wrote it; the file is
/// never in memory as a whole. A file that is cut off is read up to its last whole message.
public struct Recording: Sendable {
    /// The file.
    public let path: String
    /// The file's length in bytes when it was opened.
    public let byteCount: UInt64
    let contents: RecordingContents

    /// Whether the file has its end. One that is being recorded, or whose recorder was killed, has none.
    public var isComplete: Bool { contents.isComplete }
    /// The services whose values are in the file.
    public var services: [RecordedService] { contents.services }
    /// When the first value or event came, in nanoseconds since 1970; 0 if there is none.
    public var start: UInt64 { contents.startTime }
    /// From the first value or event to the last.
    public var duration: Duration { .nanoseconds(Int64(clamping: contents.endTime - contents.startTime)) }
    /// How many values can be replayed.
    public var valueCount: Int { contents.valueCount }
    /// Channels whose messages are left out, and why. Names from the file are in it.
    public var omissions: [String] { contents.omissions }
    /// Chunks whose checksum is wrong, and records that were left out since they are not as the format says. Of a file
    /// that has its index only these are counted that were looked at to open it.
    public var damageCount: Int { contents.damageCount }

    /// Opens a file. One without an index is read through for that.
    ///
    /// - Throws: ``RecordingError``.
    public init(path: String) async throws(RecordingError) {
        self = try await Self.reading(path) { file throws(RecordingError) in try Recording(file, path) }
    }

    /// Reads a file on a thread that may block, until the task is cancelled.
    static func reading<Result: Sendable>(
        _ path: String, _ body: @escaping @Sendable (RecordingFile) throws(RecordingError) -> Result
    ) async throws(RecordingError) -> Result {
        let isCancelled = Locked(false)
        do {
            return try await withTaskCancellationHandler {
                try await NIOThreadPool.singleton.runIfActive { try body(RecordingFile(reading: path, isCancelled)) }
            } onCancel: {
                isCancelled.withLock { $0 = true }
            }
        } catch let error as RecordingError {
            throw error
        } catch is CancellationError {
            throw RecordingError(.cancelled, "reading \(path) was cancelled")
        } catch {
            throw RecordingError(.inputOutput, "cannot read \(path): \(error)")
        }
    }

    /// Reads what the file has. It blocks.
    init(_ source: RecordingFile, _ path: String) throws(RecordingError) {
        self.path = path
        byteCount = source.byteCount
        contents = try RecordingContents(source, path)
    }

    /// The values and events in the order of the file, which is that of their times in a file of this framework's.
    public var items: RecordedItems { items(RecordingLosses()) }

    func items(_ losses: RecordingLosses) -> RecordedItems { RecordedItems(recording: self, losses: losses) }

    func name(of element: ElementDefinition, _ service: Int) -> String {
        "\(services[service].key)/\(element.name)"
    }
}

/// A service in a recording.
public struct RecordedService: Sendable {
    /// The service's name, such as `robot`; `nil` if it was recorded by host and port, and in files of others.
    public let service: String?
    /// The name of the instance, or the host and port; for files of others the file's name.
    public let instance: String
    /// The elements that it had, the first ones first: more than one catalogue if they changed.
    public internal(set) var catalogues: [ElementCatalogue] = []
    /// How many values there are of the elements, in the order of ``catalogues`` and of each catalogue.
    public internal(set) var valueCounts: [[Int]] = []
    /// The numbers by which ``RecordedEvent/catalogue`` names the catalogues.
    var catalogueNumbers: [Int] = []

    init(service: String?, instance: String) {
        self.service = service
        self.instance = instance
    }

    /// A service that is there now.
    package init(_ key: ServiceKey, _ elements: ElementCatalogue) {
        self.init(service: key.service, instance: key.name)
        add(elements, 0, elements.map { _ in 0 })
    }

    mutating func add(_ catalogue: ElementCatalogue, _ number: Int, _ valueCounts: [Int]) {
        catalogues.append(catalogue)
        catalogueNumbers.append(number)
        self.valueCounts.append(valueCounts)
    }

    package var key: ServiceKey { ServiceKey(service: service, name: instance) }

    /// The elements that hold from an event on; `nil` if the event changes nothing.
    public func elements(from event: RecordedEvent) -> ElementCatalogue? {
        guard event.kind == .connected, let number = event.catalogue else { return nil }
        return catalogueNumbers.firstIndex(of: number).map { catalogues[$0] }
    }

    /// The elements that it had first.
    public var elements: ElementCatalogue { catalogues.first ?? [] }

    /// The service as it can be published again: the same elements, units, ranges and transports.
    ///
    /// - Parameters:
    ///   - name: the instance's name; `nil` for the recorded one.
    ///   - configuration: how it listens and whom it admits, which is not recorded.
    public func makeService(
        name: String? = nil, configuration: ServiceConfiguration = ServiceConfiguration()
    ) -> ElementalService {
        ElementalService(
            service ?? RecordedChannel.unknownService, displayName: name ?? instance, elements: elements,
            configuration: configuration)
    }
}

/// A value in a recording.
public struct RecordedValue: Sendable {
    /// The service's place in ``Recording/services``.
    public let service: Int
    /// The element, as the service had it then.
    public let element: ElementDefinition
    /// The value.
    public let value: ElementValue
    /// How long before its recording the value was measured; zero if that is not known. Negative if the service said that it
    /// was measured later.
    public let age: Duration

    package init(service: Int, element: ElementDefinition, value: ElementValue, age: Duration) {
        self.service = service
        self.element = element
        self.value = value
        self.age = age
    }
}

/// A value or an event, with its time.
public struct RecordedItem: Sendable {
    /// What was recorded.
    public enum Content: Sendable {
        case value(RecordedValue)
        /// An event, with the service's place in ``Recording/services`` if it is about one that has values.
        case event(RecordedEvent, service: Int?)
    }

    /// The time since ``Recording/start``.
    public let time: Duration
    /// What was recorded.
    public let content: Content

    package init(time: Duration, content: Content) {
        self.time = time
        self.content = content
    }
}

enum ChannelUse: Sendable {
    case element(service: Int, ElementDefinition, MessageForm)
    case events
    /// They should be JSON and are not.
    case unreadable(topic: String)
}

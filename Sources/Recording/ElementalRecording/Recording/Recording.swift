public import Elemental
package import ElementalFollowing
internal import NIOPosix
internal import Support

/// A recording for reading: the content of the file, and its values in the order of their arrival.
///
/// ```swift
/// let recording = try await Recording(path: "robot.mcap")
/// for try await item in recording.items {
///     if case .value(let value) = item.content { print(item.time, value.element.name, value.value) }
/// }
/// ```
/// Every MCAP file with JSON messages and without compressed chunks can be read, whatever program wrote it. The whole
/// file is never in memory. A truncated file is read up to its last whole message.
public struct Recording: Sendable {
    /// The file.
    public let path: String
    /// The file's length in bytes when it was opened.
    public let byteCount: UInt64
    let contents: RecordingContents

    /// Whether the file has its end. It is missing while the file is being recorded, or if its recorder was killed.
    public var isComplete: Bool { contents.isComplete }
    /// The services with values in the file.
    public var services: [RecordedService] { contents.services }
    /// The time of the first value or event, in nanoseconds since 1970; 0 if there is none.
    public var start: UInt64 { contents.startTime }
    /// The time from the first value or event to the last.
    public var duration: Duration { .nanoseconds(Int64(clamping: contents.endTime - contents.startTime)) }
    /// The number of values that can be replayed.
    public var valueCount: Int { contents.valueCount }
    /// The channels whose messages are left out, with the reasons. They contain names from the file.
    public var omissions: [String] { contents.omissions }
    /// The number of chunks with a wrong checksum, and of invalid records that were left out. If the file has an index,
    /// only those read while opening it are counted.
    public var damageCount: Int { contents.damageCount }

    /// Opens a file. A file without an index is read completely.
    ///
    /// - Throws: ``RecordingError``.
    public init(path: String) async throws(RecordingError) {
        self = try await Self.reading(path) { file throws(RecordingError) in try Recording(file, path) }
    }

    /// Reads a file on a thread that may block. Cancelling the task stops it.
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

    /// Reads the content of a file. It blocks.
    init(_ source: RecordingFile, _ path: String) throws(RecordingError) {
        self.path = path
        byteCount = source.byteCount
        contents = try RecordingContents(source, path)
    }

    /// The values and events in the order of the file. In a recorder's file they are in the order of their times.
    public var items: RecordedItems { items(RecordingLosses()) }

    func items(_ losses: RecordingLosses) -> RecordedItems { RecordedItems(recording: self, losses: losses) }

    func name(of element: ElementDefinition, _ service: Int) -> String {
        "\(services[service].key)/\(element.name)"
    }
}

/// A service in a recording.
public struct RecordedService: Sendable {
    /// The service's name, such as `robot`; `nil` if it was recorded by host and port, and in files of other programs.
    public let service: String?
    /// The instance's name, or the host and port; in files of other programs the file's name.
    public let instance: String
    /// The service's catalogues in the order of their appearance: more than one if they changed.
    public internal(set) var catalogues: [ElementCatalogue] = []
    /// The number of values of each element, in the order of ``catalogues`` and of each catalogue.
    public internal(set) var valueCounts: [[Int]] = []
    /// The numbers that identify the catalogues in ``RecordedEvent/catalogue``.
    var catalogueNumbers: [Int] = []

    init(service: String?, instance: String) {
        self.service = service
        self.instance = instance
    }

    /// Creates a service from a current one.
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

    /// Returns the catalogue that is valid from an event on; `nil` if the event changes nothing.
    public func elements(from event: RecordedEvent) -> ElementCatalogue? {
        guard event.kind == .connected, let number = event.catalogue else { return nil }
        return catalogueNumbers.firstIndex(of: number).map { catalogues[$0] }
    }

    /// The first catalogue.
    public var elements: ElementCatalogue { catalogues.first ?? [] }

    /// Creates a service that can be published again: with the same elements, units, ranges and transports.
    ///
    /// - Parameters:
    ///   - name: the instance's name; `nil` for the recorded one.
    ///   - configuration: how it listens and which clients it admits, which is not recorded.
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
    /// The service's index in ``Recording/services``.
    public let service: Int
    /// The element's definition at that time.
    public let element: ElementDefinition
    /// The value.
    public let value: ElementValue
    /// How long before its recording the value was measured; zero if unknown. Negative if the service sent a later
    /// time.
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
        /// A value.
        case value(RecordedValue)
        /// An event, with the index in ``Recording/services`` of its service, if that has values.
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
    /// Messages that should be JSON but are not.
    case unreadable(topic: String)
}

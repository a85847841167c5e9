internal import Elemental
internal import ElementalFollowing
internal import ElementalWire

/// The entries that wait to be written, in the order of their arrival, and the known services. It has no thread of its
/// own.
struct RecordQueue {
    enum Entry {
        case channel(UInt16, RecordedChannel)
        case value(UInt16, time: UInt64, measured: UInt64, ElementValue, HistoryPosition? = nil)
        case event(RecordedEvent, time: UInt64)
    }

    /// A service, with the channels of its elements.
    private struct Track {
        /// All catalogues that it had, with the channels of their elements by identifier; 0 for an element without a
        /// channel.
        var catalogues: [(catalogue: ElementCatalogue, channels: [UInt16])] = []
        /// The index of the current catalogue; `nil` while the service is not connected.
        var current: Int?
        /// The channels of the current catalogue.
        var channels: [UInt16] = []
    }

    /// The channel of the events. The elements' channels follow.
    static let eventChannel: UInt16 = 1
    /// The maximum number of channels, because a service that changes its elements again and again must not fill the
    /// memory.
    static let mostChannels = 8192
    /// The size of an entry without the bytes of a long value.
    private static let entryByteCount = MemoryLayout<Entry>.stride
    private static let channelByteCount = 1024
    /// The bytes for events beyond the limit for values: these events report why values are missing.
    static let eventByteCount = 256 << 10
    /// The approximate maximum bytes of services and catalogues: changing names and elements must not fill the memory.
    static let mostTrackBytes = 16 << 20

    private let names: [String]
    private let limit: Int
    private var tracks: [ServiceKey: Track] = [:]
    private(set) var trackByteCount = 0
    private var lastChannel = eventChannel
    private var entries: [Entry] = []
    private(set) var byteCount = 0
    /// Lost values that are not reported in an event yet.
    private var unreportedCount = 0
    private(set) var valueCount = 0
    private(set) var lostCount = 0

    /// - Parameter names: the names of the elements to record; empty for all.
    init(names: [String], limit: Int) {
        self.names = names
        self.limit = limit
    }

    var isEmpty: Bool { entries.isEmpty }

    mutating func take() -> [Entry] {
        tellLost(at: lastTime)
        byteCount = 0
        var taken: [Entry] = []
        taken.reserveCapacity(min(entries.count, 16384))
        swap(&taken, &entries)
        return taken
    }

    private var lastTime: UInt64 = 0

    private mutating func append(_ entry: Entry, _ count: Int) {
        entries.append(entry)
        byteCount += count
    }

    /// Appends an event with the number of missing values, before the entry that follows them.
    private mutating func tellLost(at time: UInt64) {
        guard unreportedCount > 0 else { return }
        append(.event(RecordedEvent(kind: .lost, count: unreportedCount), time: time), Self.entryByteCount)
        unreportedCount = 0
    }

    /// - Parameters:
    ///   - age: the nanoseconds since the value was measured, if known.
    ///   - position: the position of a value of the element's history. There is always room for it: the next one is
    ///     requested after it is written.
    ///   - now: the time, called only if the value is recorded.
    mutating func add(
        _ value: ElementValue, of element: ElementDefinition, _ key: ServiceKey, measured age: Int64? = nil,
        position: HistoryPosition? = nil, at now: () -> UInt64
    ) {
        guard let channels = tracks[key]?.channels, channels.indices.contains(Int(element.id)) else { return }
        let channel = channels[Int(element.id)]
        guard channel != 0 else { return }
        let time = now()
        lastTime = time
        let count = Self.entryByteCount + (value.type.fixedByteCount == nil ? value.wireByteCount : 0)
        // A single value longer than the limit is accepted.
        guard byteCount + count <= limit || entries.isEmpty || position != nil else { return lose() }
        tellLost(at: time)
        let measured = age.map { UInt64(clamping: Int64(clamping: time) &- $0) } ?? time
        append(.value(channel, time: time, measured: measured, value, position), count)
        valueCount += 1
    }

    /// Appends an event with the values that the element's history lacks.
    mutating func addGap(_ gap: HistoryGap, of element: ElementDefinition, _ key: ServiceKey, at time: UInt64) {
        guard let channels = tracks[key]?.channels, channels.indices.contains(Int(element.id)),
            channels[Int(element.id)] != 0
        else { return }
        let maximum = gap.count == nil ? gap.maximumCount.map { ", at most \($0)" } ?? "" : ""
        appendEvent(
            RecordedEvent(
                kind: .lost, service: key.service, instance: key.name,
                reason: "the history of '\(element.name)' lacks them\(maximum)",
                count: gap.count.map { Int(clamping: $0) }), time)
    }

    /// Counts a value or event for which there is no room.
    private mutating func lose() {
        unreportedCount += 1
        lostCount += 1
    }

    /// Returns whether the service is connected and its current catalogue has the element.
    func follows(_ key: ServiceKey, _ element: ElementDefinition) -> Bool {
        guard let track = tracks[key], let current = track.current else { return false }
        return track.catalogues[current].catalogue[id: element.id] == element
    }

    mutating func connected(_ key: ServiceKey, _ catalogue: ElementCatalogue, at time: UInt64) {
        var track = tracks[key] ?? Track()
        let known = track.catalogues.firstIndex { $0.catalogue == catalogue }
        let number = known ?? track.catalogues.count
        if known == nil {
            let byteCount = 1024 + key.name.utf8.count + 2 * catalogue.wireBytes.count
            guard Int(lastChannel) + catalogue.count <= Self.mostChannels,
                trackByteCount + byteCount <= Self.mostTrackBytes
            else {
                tracks[key]?.channels = []
                tracks[key]?.current = nil
                let reason = "too many elements or catalogue changes; the maximum is \(Self.mostChannels) elements"
                return appendEvent(
                    RecordedEvent(kind: .refused, service: key.service, instance: key.name, reason: reason), time)
            }
            trackByteCount += byteCount
            track.catalogues.append((catalogue, makeChannels(of: catalogue, key, number)))
        }
        track.channels = track.catalogues[number].channels
        track.current = number
        tracks[key] = track
        appendEvent(
            RecordedEvent(kind: .connected, service: key.service, instance: key.name, catalogue: number), time)
    }

    private mutating func makeChannels(of catalogue: ElementCatalogue, _ key: ServiceKey, _ number: Int) -> [UInt16] {
        var channels = [UInt16](repeating: 0, count: 128)
        let wanted = Set(names.compactMap { catalogue[$0]?.id })
        for (position, element) in catalogue.enumerated() where names.isEmpty || wanted.contains(element.id) {
            lastChannel += 1
            channels[Int(element.id)] = lastChannel
            let channel = RecordedChannel(
                service: key.service, instance: key.name, catalogue: number, position: position, element: element)
            append(.channel(lastChannel, channel), Self.channelByteCount)
        }
        return channels
    }

    mutating func disconnected(_ key: ServiceKey, _ kind: RecordedEvent.Kind, _ reason: String?, at time: UInt64) {
        guard tracks[key]?.current != nil || kind == .refused else { return }
        tracks[key]?.current = nil
        appendEvent(RecordedEvent(kind: kind, service: key.service, instance: key.name, reason: reason), time)
    }

    private mutating func appendEvent(_ event: RecordedEvent, _ time: UInt64) {
        let texts = [event.service, event.instance, event.reason].reduce(0) { $0 + ($1?.utf8.count ?? 0) }
        let count = Self.entryByteCount + texts
        guard byteCount + count <= limit + Self.eventByteCount else { return lose() }
        lastTime = time
        tellLost(at: time)
        append(.event(event, time: time), count)
    }
}

internal import Elemental
internal import ElementalWire
internal import Support

/// The content of a file, from its summary, or from reading the whole file if it has none.
struct RecordingContents {
    private static let mostChannelBytes = 16 << 20
    /// The maximum bytes to read for detecting the form of other programs' messages.
    private static let mostSampleBytes: UInt64 = 256 << 20
    private static let mostSamples = 1000

    private(set) var isComplete = false
    private(set) var services: [RecordedService] = []
    private(set) var uses: [UInt16: ChannelUse] = [:]
    private(set) var startTime: UInt64 = 0
    private(set) var endTime: UInt64 = 0
    private(set) var valueCount = 0
    private(set) var eventCount = 0
    private(set) var omissions: [String] = []
    private(set) var damageCount = 0

    private var channels: [UInt16: MCAP.Channel] = [:]
    private var counts: [UInt16: UInt64] = [:]
    private var channelBytes = 0
    private let path: String

    init(_ source: RecordingFile, _ path: String) throws(RecordingError) {
        self.path = path
        try MCAPCursor.checkMagic(of: source, path)
        let summary = try MCAPCursor.summaryStart(of: source)
        isComplete = summary != nil
        if try !readSummary(source, at: summary ?? 0) {
            (channels, counts, channelBytes) = ([:], [:], 0)
            try readThrough(source)
        }
        try sortChannels(source)
        channels = [:]
    }

    private mutating func add(_ channel: MCAP.Channel) throws(RecordingError) {
        guard channels[channel.id] == nil else { return }
        channelBytes += channel.topic.utf8.count + 256
        for (key, value) in channel.metadata { channelBytes += key.utf8.count + value.utf8.count + 64 }
        guard channelBytes <= Self.mostChannelBytes else {
            throw RecordingError(.tooLarge, "\(path) has too many channels")
        }
        channels[channel.id] = channel
    }

    /// - Returns: whether the summary is usable.
    private mutating func readSummary(_ source: RecordingFile, at start: UInt64) throws(RecordingError) -> Bool {
        guard start > 0, start < source.byteCount else { return false }
        var cursor = MCAPCursor(source, at: start)
        var statistics: MCAP.Statistics?
        records: while let record = try cursor.next() {
            switch record {
            case .channel(let channel): try add(channel)
            case .statistics(let read): statistics = read
            case .footer: break records
            default: break
            }
        }
        guard let statistics, !cursor.isCutOff, statistics.startTime <= statistics.endTime,
            statistics.messageCounts.keys.allSatisfy({ channels[$0] != nil })
        else { return false }
        counts = statistics.messageCounts
        (startTime, endTime) = (statistics.startTime, statistics.endTime)
        return true
    }

    private mutating func readThrough(_ source: RecordingFile) throws(RecordingError) {
        var cursor = MCAPCursor(source)
        cursor.skipsMessageData = true
        var times: (start: UInt64, end: UInt64)?
        records: while let record = try cursor.next() {
            switch record {
            case .channel(let channel): try add(channel)
            case .message(let message):
                counts[message.channelID, default: 0] += 1
                let time = message.logTime
                times = (min(times?.start ?? time, time), max(times?.end ?? time, time))
            case .dataEnd: break records
            default: break
            }
        }
        (startTime, endTime) = times ?? (0, 0)
        damageCount = cursor.damagedChunkCount + cursor.skippedRecordCount
    }

    private mutating func sortChannels(_ source: RecordingFile) throws(RecordingError) {
        var own: [(id: UInt16, channel: RecordedChannel)] = []
        var foreign: [UInt16] = []
        for (id, channel) in channels.sorted(by: { $0.key < $1.key }) {
            if RecordedEvent.isChannel(channel) {
                uses[id] = .events
                eventCount = eventCount.clampedSum(Int(clamping: counts[id] ?? 0))
            } else if let recorded = RecordedChannel(channel) {
                own.append((id, recorded))
            } else if channel.messageEncoding != "json" {
                omissions.append("\(channel.topic): its messages are \(channel.messageEncoding), not JSON")
            } else if counts[id] ?? 0 > 0 {
                foreign.append(id)
            }
        }
        addOwn(own)
        if !foreign.isEmpty { try addForeign(foreign, source) }
    }

    /// Creates services from the channels that a recorder of this framework wrote, in the order of their first
    /// channels.
    private mutating func addOwn(_ channels: [(id: UInt16, channel: RecordedChannel)]) {
        let groups = Dictionary(grouping: channels) { [$0.channel.service, $0.channel.instance] }
        for group in groups.values.sorted(by: { $0[0].id < $1[0].id }) {
            let first = group[0].channel
            var service = RecordedService(service: first.service, instance: first.instance)
            let versions = Dictionary(grouping: group) { $0.channel.catalogue }
            for (number, entries) in versions.sorted(by: { $0.key < $1.key }) {
                let sorted = entries.sorted { $0.channel.position < $1.channel.position }
                guard let catalogue = try? ElementCatalogue(sorted.map(\.channel.element)) else {
                    omissions.append("\(first.instance): its elements contradict each other")
                    continue
                }
                for entry in sorted { uses[entry.id] = .element(service: services.count, entry.channel.element, .own) }
                service.add(catalogue, number, sorted.map { Int(clamping: counts[$0.id] ?? 0) })
            }
            if !service.catalogues.isEmpty { append(service) }
        }
    }

    private mutating func append(_ service: RecordedService) {
        services.append(service)
        for count in service.valueCounts.joined() { valueCount = valueCount.clampedSum(count) }
    }

    /// Creates one service from the channels of other programs: an element for each topic, with the type of its first
    /// JSON message.
    private mutating func addForeign(_ ids: [UInt16], _ source: RecordingFile) throws(RecordingError) {
        let samples = try forms(of: Set(ids), source)
        var elements: [ElementDefinition] = []
        var valueCounts: [Int] = []
        var readable: [UInt16: ChannelUse] = [:]
        for id in ids {
            guard let topic = channels[id]?.topic else { continue }
            uses[id] = .unreadable(topic: topic)
            guard let (form, type) = samples[id] else {
                omissions.append(
                    "\(topic): its first \(Self.mostSamples) messages are not JSON objects, or too far in the file")
                continue
            }
            guard elements.count < 128 else {
                omissions.append("\(topic): a service has at most 128 elements")
                continue
            }
            var name = topic.hasPrefix("/") ? String(topic.dropFirst()) : topic
            if elements.contains(where: { $0.name.lowercased() == name.lowercased() }) { name += " \(id)" }
            guard let element = try? ElementDefinition(id: elements.count, name: name, type: type, access: .read) else {
                omissions.append("\(topic): a name must have 1 to 255 bytes")
                continue
            }
            readable[id] = .element(service: services.count, element, form)
            elements.append(element)
            valueCounts.append(Int(clamping: counts[id] ?? 0))
        }
        guard !elements.isEmpty, let catalogue = try? ElementCatalogue(elements) else { return }
        uses.merge(readable) { $1 }
        var service = RecordedService(service: nil, instance: Self.name(of: path))
        service.add(catalogue, 0, valueCounts)
        append(service)
    }

    /// Infers each channel's form from its first message that can be decoded.
    private mutating func forms(
        of ids: Set<UInt16>, _ source: RecordingFile
    ) throws(RecordingError) -> [UInt16: (form: MessageForm, type: ElementType)] {
        var missing = Dictionary(uniqueKeysWithValues: ids.map { ($0, Self.mostSamples) })
        var forms: [UInt16: (form: MessageForm, type: ElementType)] = [:]
        var cursor = MCAPCursor(source)
        records: while !missing.isEmpty, cursor.offset < Self.mostSampleBytes, let record = try cursor.next() {
            switch record {
            case .message(let message):
                guard let left = missing[message.channelID] else { continue }
                forms[message.channelID] = MessageForm.inferred(from: message.data)
                let isDone = forms[message.channelID] != nil || left == 1
                missing[message.channelID] = isDone ? nil : left - 1
            case .dataEnd: break records
            default: break
            }
        }
        return forms
    }

    private static func name(of path: String) -> String {
        let file = path.split(separator: "/").last.map(String.init) ?? path
        let name = file.hasSuffix(".mcap") ? String(file.dropLast(5)) : file
        return name.isEmpty ? RecordedChannel.unknownService : name
    }
}

internal import Elemental
internal import ElementalFollowing
internal import ElementalWire
internal import Support

/// A channel of a recording: an element of a service, with the definition that it had then.
struct RecordedChannel {
    /// The service's name; `nil` if it was recorded by host and port, without a known name.
    var service: String?
    var instance: String
    /// The index of the catalogue among those that the service had.
    var catalogue: Int
    var position: Int
    var element: ElementDefinition

    private static let version = "1"
    /// The service's name in topics if it is unknown.
    static let unknownService = "recording"

    var topic: String { "\(service ?? Self.unknownService)/\(instance)/\(element.name)" }

    func channel(_ id: UInt16) -> MCAP.Channel {
        var metadata: MCAP.Metadata = [("elemental", Self.version)]
        if let service { metadata.append(("service", service)) }
        metadata += [
            ("instance", instance), ("catalogue", String(catalogue)), ("position", String(position)),
            ("id", String(element.id)), ("name", element.name), ("type", element.type.name),
            ("transport", element.transport.rawValue), ("access", element.access.abbreviation),
        ]
        if !element.unit.isEmpty { metadata.append(("unit", element.unit)) }
        if let range = element.range {
            // Earlier readers reject a vector with the key of a number's range.
            let key = element.type.isVector ? "componentRange" : "range"
            metadata.append((key, "\(range.lowerBound)...\(range.upperBound)"))
        }
        if let step = element.step { metadata.append(("step", String(step))) }
        if element.latest { metadata.append(("latest", "true")) }
        if element.timed { metadata.append(("timed", "true")) }
        if let history = element.history { metadata.append(("history", history.text)) }
        if element.kind != .state { metadata.append(("kind", element.kind.name)) }
        if !element.choices.isEmpty {
            let choices = element.choices.map { choice in
                JSONText.object([("value", choice.value.json), ("name", .string(choice.name))])
            }
            metadata.append(("choices", JSONText.array(choices).text))
        }
        return MCAP.Channel(
            id: id, schemaID: UInt16(element.type.rawValue), topic: topic, messageEncoding: "json", metadata: metadata)
    }
}

extension RecordedChannel {
    /// Decodes a channel; `nil` if another program wrote it, or its metadata are invalid.
    init?(_ channel: MCAP.Channel) {
        let entries = Dictionary(channel.metadata.map { ($0.key, $0.value) }) { first, _ in first }
        guard entries["elemental"] == Self.version, channel.messageEncoding == "json",
            let instance = entries["instance"],
            let catalogue = entries["catalogue"].flatMap({ Int($0) }), (0...0xFFFF).contains(catalogue),
            let position = entries["position"].flatMap({ Int($0) }), (0..<128).contains(position),
            let element = Self.element(entries)
        else { return nil }
        self.init(
            service: entries["service"], instance: instance, catalogue: catalogue, position: position,
            element: element)
    }

    private static func element(_ entries: [String: String]) -> ElementDefinition? {
        let step = entries["step"].flatMap { Double($0) }
        guard let id = entries["id"].flatMap({ Int($0) }), let name = entries["name"],
            let type = entries["type"].flatMap({ ElementType(name: $0) }),
            let transport = entries["transport"].flatMap({ Transport(rawValue: $0) }),
            let access = [Access.read, .write, .readWrite].first(where: { $0.abbreviation == entries["access"] }),
            let choices = entries["choices"].map({ Self.choices($0, type) }) ?? [],
            step != nil || entries["step"] == nil
        else { return nil }
        let history = entries["history"].flatMap { HistoryLimits(text: $0) }
        var range: ClosedRange<Double>?
        if let text = entries["range"] ?? entries["componentRange"] {
            guard let dots = text.firstRange(of: "..."), let lower = Double(text[..<dots.lowerBound]),
                let upper = Double(text[dots.upperBound...]), lower <= upper
            else { return nil }
            range = lower...upper
        }
        return try? ElementDefinition(
            id: id, name: name, type: type, transport: transport, unit: entries["unit"] ?? "", range: range,
            step: step, choices: choices, access: access, latest: entries["latest"] == "true",
            kind: ElementKind.allCases.first { $0.name == entries["kind"] } ?? .state, timed: entries["timed"] == "true"
        ).withHistory(history)
    }

    private static func choices(_ text: String, _ type: ElementType) -> [ElementChoice]? {
        var choices: [ElementChoice] = []
        let isWhole = Array(text.utf8).withUnsafeBytes { bytes in
            var reader = JSONReader(bytes)
            return reader.array { reader in
                var value: ElementValue?
                var name: String?
                let isWhole = reader.object { member, reader in
                    switch member {
                    case "value": value = ElementValue(&reader, type)
                    case "name": name = reader.string()
                    default: return reader.skip() != nil
                    }
                    return true
                }
                guard isWhole, let value, let name, choices.count < ElementChoice.maximumCount else { return false }
                choices.append(ElementChoice(value, name))
                return true
            }
        }
        return isWhole ? choices : nil
    }
}

extension HistoryLimits {
    /// `COUNT,SECONDS,BYTES`, 0 for no limit.
    fileprivate var text: String { "\(count ?? 0),\(seconds ?? 0),\(byteCount)" }

    fileprivate init?(text: String) {
        let limits = text.split(separator: ",").map { Int($0) ?? -1 }
        guard limits.count == 3, limits.allSatisfy((0...Int(UInt32.max)).contains), limits[2] > 0 else { return nil }
        self.init(
            count: limits[0] == 0 ? nil : limits[0], seconds: limits[1] == 0 ? nil : limits[1], byteCount: limits[2])
    }
}

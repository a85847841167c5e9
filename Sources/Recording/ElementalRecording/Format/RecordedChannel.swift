internal import Elemental
internal import ElementalWire
internal import Support

/// A channel of a recording: an element of a service, as the service told it at a time.
struct RecordedChannel {
    /// The service's name; `nil` if it was recorded by host and port, where nobody tells it.
    var service: String?
    var instance: String
    /// Which of the service's catalogues, which may change, from 0.
    var catalogue: Int
    /// The element's place in its catalogue.
    var position: Int
    var element: ElementDefinition

    /// The version of the metadata.
    private static let version = "1"
    /// The service's name in topics where it is not known.
    static let unknownService = "recording"

    var topic: String { "\(service ?? Self.unknownService)/\(instance)/\(element.name)" }

    /// The channel as the file has it.
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
        if !element.choices.isEmpty {
            let choices = element.choices.map { choice in
                JSONText.object([("value", choice.value.number), ("name", .string(choice.name))])
            }
            metadata.append(("choices", JSONText.array(choices).text))
        }
        return MCAP.Channel(
            id: id, schemaID: UInt16(element.type.rawValue), topic: topic, messageEncoding: "json", metadata: metadata)
    }

    init(service: String?, instance: String, catalogue: Int, position: Int, element: ElementDefinition) {
        self.service = service
        self.instance = instance
        self.catalogue = catalogue
        self.position = position
        self.element = element
    }

    /// Reads a channel; `nil` if it is not one of ours, or says what cannot be.
    init?(_ channel: MCAP.Channel) {
        let entries = Dictionary(channel.metadata.map { ($0.key, $0.value) }) { first, _ in first }
        guard entries["elemental"] == Self.version, channel.messageEncoding == "json",
            let instance = entries["instance"],
            let catalogue = entries["catalogue"].flatMap({ Int($0) }), (0...0xFFFF).contains(catalogue),
            let position = entries["position"].flatMap({ Int($0) }), (0..<128).contains(position),
            let element = ElementDefinition(entries)
        else { return nil }
        self.init(
            service: entries["service"], instance: instance, catalogue: catalogue, position: position,
            element: element)
    }
}

extension ElementDefinition {
    /// Reads an element from a channel's metadata.
    fileprivate convenience init?(_ entries: [String: String]) {
        guard let id = entries["id"].flatMap({ Int($0) }), let name = entries["name"],
            let type = entries["type"].flatMap({ ElementType(name: $0) }),
            let transport = entries["transport"].flatMap({ Transport(rawValue: $0) }),
            let access = entries["access"].flatMap({ Access(abbreviation: $0) })
        else { return nil }
        var range: ClosedRange<Double>?
        if let text = entries["range"] ?? entries["componentRange"] {
            guard let dots = text.firstRange(of: "..."), let lower = Double(text[..<dots.lowerBound]),
                let upper = Double(text[dots.upperBound...]), lower <= upper
            else { return nil }
            range = lower...upper
        }
        var step: Double?
        if let text = entries["step"] {
            step = Double(text)
            guard step != nil else { return nil }
        }
        var choices: [ElementChoice] = []
        if let text = entries["choices"] {
            guard let read = Self.choices(text, type) else { return nil }
            choices = read
        }
        do throws(WireError) {
            try self.init(
                id: id, name: name, type: type, transport: transport, unit: entries["unit"] ?? "", range: range,
                step: step, choices: choices, access: access, latest: entries["latest"] == "true")
        } catch {
            return nil
        }
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

extension Access {
    fileprivate init?(abbreviation: String) {
        switch abbreviation {
        case "ro": self = .read
        case "wo": self = .write
        case "rw": self = .readWrite
        default: return nil
        }
    }
}

extension ElementValue {
    /// An integer or text in JSON, of which choices are made.
    fileprivate var number: JSONText {
        switch plainForm {
        case .integer(let digits): .number(digits)
        case let form: .string(form.description)
        }
    }
}

import Elemental
import ElementalFollowing
import ElementalSecurity
import ElementalWire
import Support

/// A service at the other end of a connection with its elements, as `describe` and `list` show it.
struct ServiceDescription: ConsoleEvent {
    let name: String
    /// The service's name; `nil` if the target was a host and port.
    let service: String?
    let address: String
    /// Whether it supports the extensions; an older ElementalController does not.
    let saysHello: Bool
    /// What Zeroconf says of it; `nil` if the target was a host and port.
    let discovered: DiscoveredService?
    /// Who the service has proven to be; `nil` if the connection is not encrypted.
    let fingerprint: Fingerprint?
    /// What this client may do there; `nil` if the connection is not encrypted.
    let role: Role?
    /// The identifier in this connection's datagrams; 0 for none.
    let udpIdentifier: Int
    /// The elements, each with its newest value, if one has arrived.
    let elements: [(definition: ElementDefinition, value: ElementValue?)]

    var isResult: Bool { true }

    var lines: [String] { styledLines.map { $0.map(\.text).joined() } }

    /// The service on one line, its elements as a table below.
    var styledLines: [[Styled]] {
        let place = name == address ? "" : " at \(address)"
        let kind = (service.map { " (\($0))" } ?? "") + (saysHello ? "" : " [older ElementalController]")
        let count = elements.count == 1 ? "1 element" : "\(elements.count) elements"
        let table = Table(
            titles: [">ID", "NAME", "TYPE", "VIA", "ACCESS", "RANGE", "UNIT", "VALUE"],
            rows: elements.map { Self.row($0.definition, $0.value) }, indentation: "  ")
        return [[Styled(name, .heading), Styled(kind)] + remark + [Styled("\(place), \(count)")]] + table.lines
    }

    /// What was proven, or what the service says that a client needs.
    private var remark: [Styled] {
        guard fingerprint == nil else {
            return [Styled(" [encrypted, \(role?.rawValue ?? "unknown role")]", .good)]
        }
        return discovered?.remark(.none).map { [Styled(" [\($0)]", .warning)] } ?? []
    }

    var json: JSONText {
        .event(
            "service",
            JSONText.members(service, name) + [
                ("address", .string(address)),
                ("elements", .integer(elements.count)), ("hello", .bool(saysHello)),
                ("udpIdentifier", .integer(udpIdentifier)),
            ] + (discovered?.securityMembers ?? [("security", .null), ("pairing", .null)])
                + [
                    ("role", .optional(role?.rawValue)), ("fingerprint", .optional(fingerprint.map { "\($0)" })),
                ])
    }

    /// The service, then each element.
    var jsonLines: [JSONText] {
        [json]
            + elements.map { element, value in .event("element", element.members + [("value", value?.json ?? .null)]) }
    }

    private static func row(_ element: ElementDefinition, _ value: ElementValue?) -> [Styled] {
        let access = element.access.abbreviation + (element.latest ? " latest" : "")
        return [Styled(String(element.id), .faint), Styled(element.name)]
            + [element.type.name, element.transport.rawValue, access].map { Styled($0, .faint) }
            + [range(element), element.unit, value.map { beginning($0, of: element) } ?? ""].map { Styled($0) }
    }

    /// As much of the value as fits into 40 columns.
    private static func beginning(_ value: ElementValue, of element: ElementDefinition) -> String {
        // Only as much data is converted to digits as is shown.
        let value = if case .data(let data) = value { ElementValue.data(data.prefix(21)) } else { value }
        return element.text(of: value).cut(to: 40)
    }

    /// The choices where there are some, and otherwise the range and step.
    private static func range(_ element: ElementDefinition) -> String {
        if !element.choices.isEmpty {
            return element.choices.prefix(40).map(\.name).joined(separator: ", ").cut(to: 40)
        }
        let step = element.step.map { "step \(element.type.text(of: $0))" }
        return [element.rangeText, step].compactMap(\.self).joined(separator: " ")
    }
}

extension ServiceDescription {
    init(_ client: Client) {
        let device = client.device
        name = device.name
        service = device.service
        address = device.addressText
        saysHello = device.hello != nil
        discovered = client.place.discovered
        fingerprint = device.fingerprint
        role = device.grantedRole
        udpIdentifier = Int(device.udpIdentifier)
        elements = client.elements.map { ($0, device.value(of: $0)) }
    }
}

extension ElementDefinition {
    /// What the catalogue says of the element.
    var members: JSONText.Members {
        func number(_ number: Double) -> JSONText { .number(type.text(of: number)) }
        let range = range.map { JSONText.array([number($0.lowerBound), number($0.upperBound)]) }
        return [
            ("id", .integer(Int(id))), ("element", .string(name)), ("type", .string(type.name)),
            ("transport", .string(transport.rawValue)), ("access", .string(access.abbreviation)),
            ("latest", .bool(latest)), ("unit", .string(unit)), ("range", range ?? .null),
            ("step", step.map(number) ?? .null), ("choices", choicesJSON),
        ]
    }
}

import Elemental
import ElementalFollowing
import ElementalSecurity
import ElementalWire
import Support

extension Client {
    /// The service with its elements, as `describe` and `list` show it.
    var description: Notice {
        .service(
            device.key, address: device.addressText, saysHello: device.hello != nil, discovered: place.discovered,
            fingerprint: device.fingerprint, role: device.grantedRole, udpIdentifier: Int(device.udpIdentifier),
            elements: elements.map { ($0, device.value(of: $0)) })
    }
}

extension ConsoleEvent where Self == Notice {
    /// A service on one line, with its elements as a table below. In JSON, each element is an event of its own.
    ///
    /// - Parameters:
    ///   - saysHello: whether it supports the extensions; an older ElementalController does not.
    ///   - discovered: what was found with Zeroconf; `nil` if the target was a host and port.
    ///   - fingerprint: the service's proven identity; `nil`, like the role, if the connection is not encrypted.
    ///   - udpIdentifier: the identifier in this connection's datagrams; 0 for none.
    static func service(
        _ key: ServiceKey, address: String, saysHello: Bool, discovered: DiscoveredService?, fingerprint: Fingerprint?,
        role: Role?, udpIdentifier: Int, elements: [(definition: ElementDefinition, value: ElementValue?)]
    ) -> Notice {
        let place = key.name == address ? "" : " at \(address)"
        let kind = (key.service.map { " (\($0))" } ?? "") + (saysHello ? "" : " [older ElementalController]")
        let count = elements.count == 1 ? "1 element" : "\(elements.count) elements"
        // The proven security, or else the security that the service announces.
        let remark =
            fingerprint == nil
            ? discovered?.remark(.none).map { Styled(" [\($0)]", .warning) }
            : Styled(" [encrypted, \(role?.rawValue ?? "unknown role")]", .good)
        let title = [Styled(key.name, .heading), Styled(kind), remark, Styled("\(place), \(count)")]
        let table = Table(
            titles: [">ID", "NAME", "TYPE", "VIA", "ACCESS", "RANGE", "UNIT", "VALUE"],
            rows: elements.map { $0.definition.row($0.value) }, indentation: "  ")
        return Notice(
            "service",
            JSONText.members(key) + [
                ("address", .string(address)), ("elements", .integer(elements.count)), ("hello", .bool(saysHello)),
                ("udpIdentifier", .integer(udpIdentifier)),
            ] + (discovered?.securityMembers ?? [("security", .null), ("pairing", .null)]) + [
                ("role", .optional(role?.rawValue)), ("fingerprint", .optional(fingerprint.map { "\($0)" })),
            ], isResult: true, styled: [title.compactMap(\.self)] + table.lines,
            others: elements.map { .event("element", $0.definition.members + [("value", $0.value?.json ?? .null)]) })
    }
}

extension ElementDefinition {
    var members: JSONText.Members {
        func number(_ number: Double) -> JSONText { .number(type.text(of: number)) }
        let range = range.map { JSONText.array([number($0.lowerBound), number($0.upperBound)]) }
        return [
            ("id", .integer(Int(id))), ("element", .string(name)), ("type", .string(type.name)),
            ("transport", .string(transport.rawValue)), ("access", .string(access.abbreviation)),
            ("latest", .bool(latest)), ("timed", .bool(timed)), ("history", history?.json ?? .null),
            ("kind", .string(kind.name)), ("unit", .string(unit)),
            ("range", range ?? .null), ("step", step.map(number) ?? .null), ("choices", choicesJSON),
        ]
    }

    fileprivate func row(_ value: ElementValue?) -> [Styled] {
        let access =
            access.abbreviation + (latest ? " latest" : "") + (timed ? " timed" : "")
            + (history == nil ? "" : " history")
            + (kind == .state ? "" : " \(kind.name)")
        return [Styled(String(id), .faint), Styled(name)]
            + [type.name, transport.rawValue, access].map { Styled($0, .faint) }
            + [limits, unit, value.map(beginning) ?? ""].map { Styled($0) }
    }

    private func beginning(_ value: ElementValue) -> String {
        // Only as much data is converted to digits as is shown.
        let value = if case .data(let data) = value { ElementValue.data(data.prefix(21)) } else { value }
        return text(of: value).cut(to: 40)
    }

    private var limits: String {
        if !choices.isEmpty { return choices.prefix(40).map(\.name).joined(separator: ", ").cut(to: 40) }
        let step = step.map { "step \(type.text(of: $0))" }
        return [rangeText, step].compactMap(\.self).joined(separator: " ")
    }
}

extension HistoryLimits {
    fileprivate var json: JSONText {
        .object([
            ("count", .optional(count)), ("seconds", .optional(seconds)), ("byteCount", .integer(byteCount)),
        ])
    }
}

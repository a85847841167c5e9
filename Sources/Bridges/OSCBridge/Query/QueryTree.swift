import Elemental
internal import ElementalFollowing
internal import ElementalWire
internal import NIOCore
internal import Support
internal import WebServer

/// Answers OSCQuery requests: the addresses with their types, ranges, access, units and values.
///
/// A tree of thousands of elements has megabytes, so it is encoded off the bridge's event loop.
///
/// Attributes and their meaning are those of the OSCQuery proposal, 1.0 (github.com/Vidvox/OSCQueryProposal).
struct QueryTree: Sendable {
    /// A service at the time of the request.
    struct Service: Sendable {
        let level: String
        let description: String
        let elements: [OSCElement]
        let readings: [OSCElement.Reading]
    }

    enum Node: Sendable {
        case root([Service])
        case service(Service)
        case element(Service, Int)
    }

    let setsElements: Bool
    let port: Int
    let name: String

    func answer(_ request: WebRequest, _ find: @Sendable (String) async -> Node?) async -> WebResponse {
        guard let path = Self.decoded(request.path).map(Self.withoutSlashes) else {
            return WebResponse(status: 400, "The path is not valid.")
        }
        // Some programs write an attribute like a form's field: `?VALUE=`.
        let query = request.query?.prefix { $0 != "=" }
        if query == "HOST_INFO" { return Self.response(hostInfo) }
        guard let node = await find(path) else {
            return WebResponse(status: 404, "There is nothing at this address.")
        }
        guard let query, !query.isEmpty else { return Self.response(full(node)) }
        guard let query = Self.order.first(where: { $0 == query }) else {
            return WebResponse(status: 400, "Unknown attribute; HOST_INFO lists the supported ones.")
        }
        // OSCQuery answers 204 if the node has no such attribute.
        guard let value = attribute(query, node) else {
            return WebResponse(status: 204, contentType: Self.contentType, body: ByteBuffer())
        }
        return Self.response(.object([(query, value)]))
    }

    private static let contentType = "application/json"

    private static func response(_ json: JSONText) -> WebResponse {
        WebResponse(contentType: contentType, body: ByteBuffer(string: json.text))
    }

    private var hostInfo: JSONText {
        let yes = [
            "ACCESS", "VALUE", "RANGE", "DESCRIPTION", "UNIT", "CLIPMODE", "LISTEN", "PATH_ADDED", "PATH_REMOVED",
        ]
        let no = [
            "TAGS", "EXTENDED_TYPE", "CRITICAL", "OVERLOADS", "PATH_CHANGED", "PATH_RENAMED", "HTML", "OSC_STREAMING",
        ]
        return .object([
            ("NAME", .string(name)),
            ("EXTENSIONS", .object(yes.map { ($0, .bool(true)) } + no.map { ($0, .bool(false)) })),
            ("OSC_PORT", .integer(port)), ("OSC_TRANSPORT", .string("UDP")),
        ])
    }

    private func full(_ node: Node) -> JSONText {
        .object(Self.order.compactMap { name in attribute(name, node).map { (name, $0) } })
    }

    private static let order = [
        "FULL_PATH", "DESCRIPTION", "TYPE", "ACCESS", "RANGE", "CLIPMODE", "UNIT", "VALUE", "CONTENTS",
    ]

    private func attribute(_ attribute: String, _ node: Node) -> JSONText? {
        switch node {
        case .root(let services): container(attribute, "/", name, services.map { ($0.level, .service($0)) })
        case .service(let service):
            container(
                attribute, "/\(service.level)", service.description,
                service.elements.enumerated().map { ($1.level, .element(service, $0)) })
        case .element(let service, let position): self.attribute(attribute, service, position)
        }
    }

    private func container(
        _ attribute: String, _ path: String, _ description: String, _ contents: [(level: String, node: Node)]
    ) -> JSONText? {
        switch attribute {
        case "FULL_PATH": .string(path)
        case "DESCRIPTION": .string(description)
        case "ACCESS": .integer(0)
        case "CONTENTS":
            .object(contents.sorted { $0.level < $1.level }.map { ($0.level, full($0.node)) })
        default: nil
        }
    }

    private func attribute(_ attribute: String, _ service: Service, _ position: Int) -> JSONText? {
        let element = service.elements[position]
        let definition = element.definition
        let tags = definition.oscTypeTags
        switch attribute {
        case "FULL_PATH": return .string(element.address)
        case "DESCRIPTION": return .string(definition.name)
        case "TYPE":
            // Of the two types of a switch, the one of its current value.
            guard definition.type == .bool else { return .string(tags) }
            return .string(service.readings[position].newest == .bool(true) ? "T" : "F")
        case "ACCESS": return .integer((element.reads ? 1 : 0) + (setsElements && element.writes ? 2 : 0))
        case "RANGE":
            if !definition.choices.isEmpty {
                let values = definition.choices.map { definition.type == .string ? .string($0.name) : $0.value.json }
                return .array([.object([("VALS", .array(values))])])
            }
            guard let range = definition.range else { return nil }
            let (low, high) = (range.lowerBound, range.upperBound)
            // One entry for each argument.
            return .array(
                tags.map { _ in .object([("MIN", bound(low, definition)), ("MAX", bound(high, definition))]) })
        case "CLIPMODE": return definition.range == nil ? nil : .array(tags.map { _ in .string("both") })
        case "UNIT":
            return definition.unit.isEmpty ? nil : .array(tags.map { _ in .string(definition.unit) })
        case "VALUE": return .array(values(service.readings[position].newest, count: tags.utf8.count))
        default: return nil
        }
    }

    private func bound(_ number: Double, _ element: ElementDefinition) -> JSONText {
        .number(element.type.text(of: number))
    }

    /// Returns `null` for an unknown value, or one that JSON cannot represent.
    private func values(_ value: ElementValue?, count: Int) -> [JSONText] {
        guard let value else { return [JSONText](repeating: .null, count: count) }
        func number(_ number: some BinaryFloatingPoint & LosslessStringConvertible) -> JSONText {
            number.isFinite ? JSONText(number) : .null
        }
        switch value.plainForm {
        case .float(let single): return [number(single)]
        case .double(let double): return [number(double)]
        case .floats(let floats): return floats.map { number($0) }
        case .text where value.type == .data: return [.null]
        case .integer, .bool, .text: return [value.json]
        }
    }

    /// Returns an address without trailing slashes, which some programs add.
    static func withoutSlashes(_ path: String) -> String {
        var path = Substring(path)
        while path.utf8.count > 1, path.utf8.last == UInt8(ascii: "/") { path.removeLast() }
        return String(path)
    }

    /// Decodes percent escapes, which no address contains; `nil` if they are invalid.
    static func decoded(_ path: String) -> String? {
        let parts = path.utf8.split(separator: UInt8(ascii: "%"), omittingEmptySubsequences: false)
        var bytes = Array(parts[0])
        for part in parts.dropFirst() {
            guard part.count >= 2, let value = UInt8(Substring(part.prefix(2)), radix: 16) else { return nil }
            bytes.append(value)
            bytes += part.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

extension BridgeCore {
    /// Returns the node at an address: a copy of the current state, which is cheap.
    func node(at path: String) -> QueryTree.Node? {
        if path == "/" { return .root(services.values.map { QueryTree.Service($0) }) }
        if let place = addresses[path] { return .element(QueryTree.Service(place.service), place.position) }
        return levels[String(path.dropFirst())].map { .service(QueryTree.Service($0)) }
    }
}

extension QueryTree.Service {
    init(_ service: BridgedService) {
        level = service.own.level
        description = service.key.description
        elements = service.elements
        readings = service.readings
    }
}

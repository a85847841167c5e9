/// How an element's values travel.
public enum Transport: String, Sendable, Hashable, CaseIterable {
    /// In order, nothing lost while the connection lasts.
    case tcp
    /// At once or never: values may be lost, doubled or come out of order.
    case udp
}

/// Who may send an element's value, seen from the client.
public struct Access: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The service tells the value to its clients.
    @inlinable public static var read: Access { Access(rawValue: 1) }
    /// A client may send a value to the service.
    @inlinable public static var write: Access { Access(rawValue: 2) }
    /// Both ways.
    @inlinable public static var readWrite: Access { [.read, .write] }

    /// `ro`, `wo` or `rw`, as the command line writes it.
    public var abbreviation: String {
        switch self {
        case .read: "ro"
        case .write: "wo"
        default: "rw"
        }
    }
}

/// All that both ends know of an element: its identifier, name and type, and what a user interface wants to show.
///
/// It is one reference: handing it on copies no strings.
public struct ElementDefinition: Sendable, Hashable {
    @usableFromInline
    struct Fields: Sendable, Hashable {
        @usableFromInline let id: Int8
        @usableFromInline let name: String
        @usableFromInline let type: ElementType
        @usableFromInline let transport: Transport
        @usableFromInline let unit: String
        @usableFromInline let range: ClosedRange<Double>?
        @usableFromInline let step: Double?
        @usableFromInline let access: Access
        @usableFromInline let latest: Bool
    }

    @usableFromInline
    final class Storage: Sendable {
        @usableFromInline let fields: Fields

        init(_ fields: Fields) { self.fields = fields }
    }

    @usableFromInline let storage: Storage

    /// The number that stands for the element on the wire, 0...127.
    @inlinable public var id: Int8 { storage.fields.id }
    /// The name that people see; unique within a catalogue, 1 to 255 UTF-8 bytes.
    @inlinable public var name: String { storage.fields.name }
    /// The type of the element's values.
    @inlinable public var type: ElementType { storage.fields.type }
    /// How values travel.
    @inlinable public var transport: Transport { storage.fields.transport }
    /// The unit of a value, such as "°C" or "m/s"; empty for none. At most 255 UTF-8 bytes.
    @inlinable public var unit: String { storage.fields.unit }
    /// The values allowed, for numeric types. A send outside it is refused, a value received outside it is rejected.
    @inlinable public var range: ClosedRange<Double>? { storage.fields.range }
    /// The step in which a control should move, above 0, for numeric types. A hint: other values are taken too.
    @inlinable public var step: Double? { storage.fields.step }
    /// Who may send a value.
    @inlinable public var access: Access { storage.fields.access }
    /// Whether only the newest unsent value is kept when a connection is slower than its sender.
    @inlinable public var latest: Bool { storage.fields.latest }

    /// A definition, checked.
    ///
    /// - Throws: ``WireError`` with the code ``WireError/Code/invalidDefinition``, naming the element and what is wrong.
    public init(
        id: Int, name: String, type: ElementType, transport: Transport = .tcp, unit: String = "",
        range: ClosedRange<Double>? = nil, step: Double? = nil, access: Access = .readWrite, latest: Bool = false
    ) throws(WireError) {
        func invalid(_ problem: String) -> WireError {
            WireError(.invalidDefinition, "element '\(name.prefix(80))' (\(id)): \(problem)")
        }
        guard (0...127).contains(id) else {
            throw invalid("the identifier is out of range; give one from 0 to 127 (negative ones are the system's)")
        }
        guard (1...255).contains(name.utf8.count) else {
            throw invalid("a name has 1 to 255 UTF-8 bytes, this one has \(name.utf8.count)")
        }
        guard unit.utf8.count <= 255 else { throw invalid("a unit has at most 255 UTF-8 bytes") }
        guard type.isNumeric || (range == nil && step == nil) else {
            throw invalid("a range or step means nothing for type \(type); leave it out")
        }
        if let range, !(range.lowerBound.isFinite && range.upperBound.isFinite) {
            throw invalid("the bounds of a range are finite numbers")
        }
        if let step, !(step > 0 && step.isFinite) { throw invalid("a step is a finite number above 0") }
        guard !access.isDisjoint(with: .readWrite) else { throw invalid("access is read, write or both") }
        storage = Storage(
            Fields(
                id: Int8(id), name: name, type: type, transport: transport, unit: unit, range: range, step: step,
                access: access, latest: latest))
    }

    /// Whether all that is defined is the same.
    public static func == (a: ElementDefinition, b: ElementDefinition) -> Bool {
        a.storage === b.storage || a.storage.fields == b.storage.fields
    }

    /// Hashes all that is defined.
    public func hash(into hasher: inout Hasher) { hasher.combine(storage.fields) }
}

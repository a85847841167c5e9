/// How an element's values travel.
public enum Transport: String, Sendable, Hashable, CaseIterable {
    /// In order, nothing lost while the connection lasts.
    case tcp
    /// Best effort: values may be lost, duplicated or reordered.
    case udp
}

/// Who may send an element's value, seen from the client.
public struct Access: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The service sends the value to its clients.
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

/// How a person uses an element: a hint for user interfaces.
public enum ElementKind: UInt8, Sendable, Hashable, CaseIterable {
    /// It keeps the value that it was set to.
    case state = 0
    /// A push button, which is on while it is held. Only for a bool.
    case momentary = 1
    /// An emergency stop, which user interfaces show large and before all other elements. Setting it to on stops all
    /// movement. Only for a bool.
    case urgent = 2

    /// `state`, `momentary` or `urgent`, as the command line writes it.
    public var name: String {
        switch self {
        case .state: "state"
        case .momentary: "momentary"
        case .urgent: "urgent"
        }
    }
}

/// A definition of an element, shared by both ends: its identifier, name and type, and what a user interface shows.
///
/// A typed ``Element`` is a subclass: a catalogue's literal can hold elements of different types only if all of them
/// convert to one type, and in Embedded Swift only classes do. Passing a definition around copies no strings.
// Unchecked because the compiler checks only final classes. Its properties are constants of Sendable types, no other
// module can subclass it, and the one subclass, Element, adds no stored property.
public class ElementDefinition: @unchecked Sendable {
    @usableFromInline
    struct Fields: Sendable, Hashable {
        @usableFromInline let name: String
        @usableFromInline let unit: String
        /// `nil` for an element without limits.
        @usableFromInline let limits: Limits?
        @usableFromInline let id: Int8
        @usableFromInline let type: ElementType
        @usableFromInline let transport: Transport
        @usableFromInline var access: Access
        @usableFromInline let latest: Bool
        @usableFromInline var readers = Role.plain
        @usableFromInline var writers = Role.control
        @usableFromInline var kind = ElementKind.state
        @usableFromInline var timed = false
        #if !hasFeature(Embedded)
        @usableFromInline var history: HistoryLimits?
        #endif

        @inlinable var range: ClosedRange<Double>? { limits?.range }
        @inlinable var step: Double? { limits?.step }
        @usableFromInline var choices: ChoiceTable? { limits?.choices }
    }

    /// The limits of an element's values. They are a separate object because most elements have none, and sixteen
    /// definitions have to fit into a microcontroller with 4 KB of memory.
    @usableFromInline
    final class Limits: Sendable {
        @usableFromInline let range: ClosedRange<Double>?
        @usableFromInline let step: Double?
        @usableFromInline let choices: ChoiceTable?
        /// Stored, because every sent value is checked for it.
        @usableFromInline let hasChoices: Bool

        private init(_ range: ClosedRange<Double>?, _ step: Double?, _ choices: ChoiceTable?) {
            hasChoices = choices != nil
            self.range = range
            self.step = step
            self.choices = choices
        }

        /// Returns the limits, or `nil` if there are none.
        static func ifAny(_ range: ClosedRange<Double>?, _ step: Double?, _ choices: ChoiceTable?) -> Limits? {
            range == nil && step == nil && choices == nil ? nil : Limits(range, step, choices)
        }
    }

    @usableFromInline final let fields: Fields

    /// The number that stands for the element on the wire, 0...127.
    @inlinable public final var id: Int8 { fields.id }
    /// The name that people see; unique within a catalogue, 1 to 255 UTF-8 bytes.
    @inlinable public final var name: String { fields.name }
    /// The type of the element's values.
    @inlinable public final var type: ElementType { fields.type }
    /// How values travel.
    @inlinable public final var transport: Transport { fields.transport }
    /// The unit of a value, such as "°C" or "m/s"; empty for none. At most 255 UTF-8 bytes.
    @inlinable public final var unit: String { fields.unit }
    /// The values allowed, for numeric types; for vectors those of each component. A value outside it is refused when
    /// sent and rejected when received.
    @inlinable public final var range: ClosedRange<Double>? { fields.range }
    /// The step in which a control should move, above 0, for numeric types. It is a hint: other values are accepted
    /// too.
    @inlinable public final var step: Double? { fields.step }
    /// The list of allowed values, for integers and strings; empty for an element without choices. Other values are
    /// refused when sent and rejected when received.
    public final var choices: [ElementChoice] { fields.choices?.list ?? [] }
    /// Whether the element has a range, a step or choices.
    @inlinable package final var hasLimits: Bool { fields.limits != nil }
    /// Who may send a value.
    @inlinable public final var access: Access { fields.access }
    /// Whether only the newest unsent value is kept when a connection is slower than its sender.
    @inlinable public final var latest: Bool { fields.latest }
    /// The lowest role that receives the element's catalogue entry and its values. The default is ``Role/plain``: every
    /// admitted client. An ``SecurityPolicy/open`` service ignores it.
    @inlinable public final var readers: Role { fields.readers }
    /// The lowest role that may set the element, if clients can set it at all. The default is ``Role/control``. Setting
    /// requires reading: a client below ``readers`` may not set the element either. An ``SecurityPolicy/open`` service
    /// ignores it.
    @inlinable public final var writers: Role { fields.writers }
    /// How a person uses the element; a hint for user interfaces.
    @inlinable public final var kind: ElementKind { fields.kind }
    /// Whether values carry the time at which they were measured.
    @inlinable public final var timed: Bool { fields.timed }

    /// Creates a definition and checks it.
    ///
    /// - Parameters:
    ///   - readers: the lowest role that may read the element; see ``readers``.
    ///   - writers: the lowest role that may set it; see ``writers``.
    ///   - kind: how a person uses it: any kind for a bool, ``ElementKind/state`` for other types.
    ///   - timed: whether values carry the time at which they were measured.
    /// - Throws: ``WireError`` with the code ``WireError/Code/invalidDefinition``, naming the element and what is
    ///   wrong.
    public convenience init(
        id: Int, name: String, type: ElementType, transport: Transport = .tcp, unit: String = "",
        range: ClosedRange<Double>? = nil, step: Double? = nil, choices: [ElementChoice] = [],
        access: Access = .readWrite, latest: Bool = false, readers: Role = .plain, writers: Role = .control,
        kind: ElementKind = .state, timed: Bool = false
    ) throws(WireError) {
        let table: ChoiceTable?
        do throws(ChoiceTable.Problem) {
            table = choices.isEmpty ? nil : try ChoiceTable(choices, type: type, range: range)
        } catch {
            throw Self.invalid(id, name, error.text)
        }
        try self.init(
            checking: id, name, type: type, transport: transport, unit: unit, range: range, step: step, choices: table,
            access: access, latest: latest, readers: readers, writers: writers, kind: kind, timed: timed)
    }

    /// A definition whose choices are already checked, so that a device's program without choices does not link the
    /// code that checks them.
    convenience init(
        checking id: Int, _ name: String, type: ElementType, transport: Transport, unit: String,
        range: ClosedRange<Double>?, step: Double?, choices: ChoiceTable?, access: Access, latest: Bool,
        readers: Role = .plain, writers: Role = .control, kind: ElementKind = .state, timed: Bool = false
    ) throws(WireError) {
        if let problem = Self.problem(id, name, type: type, unit: unit, range: range, step: step, access: access) {
            throw Self.invalid(id, name, problem.text)
        }
        guard kind == .state || type == .bool else { throw Self.invalid(id, name, Problem.kind(kind).text) }
        self.init(
            fields: Fields(
                name: name, unit: unit, limits: .ifAny(range, step, choices), id: Int8(id), type: type,
                transport: transport, access: access, latest: latest, readers: readers, writers: writers,
                kind: kind, timed: timed))
    }

    /// What is wrong with a definition. The text is built lazily: embedded targets never show it.
    enum Problem {
        case identifier
        case nameLength(Int)
        case unitLength
        case notNumeric(ElementType)
        case bounds
        case step
        case access
        case kind(ElementKind)

        /// The problem as a message for the user.
        var text: String {
            switch self {
            case .identifier: "the identifier is out of range; give one from 0 to 127 (negative ones are the system's)"
            case .nameLength(let count): "the name has \(count) UTF-8 bytes; give 1 to 255"
            case .unitLength: "the unit is too long; give at most 255 UTF-8 bytes"
            case .notNumeric(let type):
                "type \(type) allows no \(type.isVector ? "step" : "range or step"); leave it out"
            case .bounds: "the range has a bound that is not finite; give finite numbers"
            case .step: "the step is invalid; give a finite number above 0"
            case .access: "the access is empty; give read, write or both"
            case .kind(let kind): "only a bool can be \(kind.name)"
            }
        }
    }

    /// Returns the first problem of a definition, or `nil` if it is valid.
    static func problem(
        _ id: Int, _ name: String, type: ElementType, unit: String, range: ClosedRange<Double>?, step: Double?,
        access: Access
    ) -> Problem? {
        guard (0...127).contains(id) else { return .identifier }
        let nameLength = name.utf8ByteCount
        guard (1...255).contains(nameLength) else { return .nameLength(nameLength) }
        guard unit.utf8ByteCount <= 255 else { return .unitLength }
        guard type.isNumeric || (step == nil && (range == nil || type.isVector)) else { return .notNumeric(type) }
        if let range, !(range.lowerBound.isFinite && range.upperBound.isFinite) { return .bounds }
        if let step, !(step > 0 && step.isFinite) { return .step }
        return access.isDisjoint(with: .readWrite) ? .access : nil
    }

    /// The fields of a definition in source code. An invalid definition stops the program.
    static func checkedFields(
        _ id: Int, _ name: String, type: ElementType, transport: Transport, unit: String, range: ClosedRange<Double>?,
        step: Double?, choices: ChoiceTable?, access: Access, latest: Bool
    ) -> Fields {
        if let problem = problem(id, name, type: type, unit: unit, range: range, step: step, access: access) {
            #if hasFeature(Embedded)
            // A device does not show the message, so it is left out.
            _ = problem
            fatalError("an element's definition is invalid")
            #else
            preconditionFailure(invalid(id, name, problem.text).message)
            #endif
        }
        return Fields(
            name: name, unit: unit, limits: .ifAny(range, step, choices), id: Int8(id), type: type,
            transport: transport, access: access, latest: latest)
    }

    static func invalid(_ id: Int, _ name: String, _ problem: String) -> WireError {
        WireError(.invalidDefinition, "element '\(name.excerpt)' (\(id)): \(problem)")
    }

    /// Creates a definition with fields that have been checked.
    init(fields: Fields) { self.fields = fields }

    /// The definition itself: an ``Element`` without the type of its values.
    public final var definition: ElementDefinition { self }
}

extension ElementDefinition {
    /// Whether the value is of the element's type, in its range and one of its choices.
    public func allows(_ value: ElementValue) -> Bool {
        guard value.type == type else { return false }
        guard let limits = fields.limits else { return true }
        if limits.hasChoices { return isChoice(value.wireByteCount, value.write) }
        return limits.range.map { value.visit(ElementValue.RangeVisitor(range: $0)) } ?? true
    }

    /// Whether the wire form of a value of the element's type is one of its choices; true for an element without
    /// choices.
    package func allowsChoice(_ bytes: UnsafeRawBufferPointer) -> Bool { fields.choices?.contains(bytes) ?? true }

    /// Whether a value is one of the choices. `write` writes the value to a buffer and returns the number of bytes
    /// written. A wrong number returns true: sending reports it.
    @usableFromInline
    func isChoice(_ byteCount: Int, _ write: (UnsafeMutableRawBufferPointer) -> Int) -> Bool {
        guard byteCount <= ChoiceTable.maximumValueByteCount else { return false }
        return withUnsafeTemporaryAllocation(byteCount: byteCount, alignment: 1) { buffer in
            write(buffer) != byteCount || allowsChoice(UnsafeRawBufferPointer(buffer))
        }
    }
}

// In an extension because members of the class are in its vtable, which keeps them in a device's program even if
// unused.
extension ElementDefinition.Limits: Hashable {
    @usableFromInline
    static func == (a: ElementDefinition.Limits, b: ElementDefinition.Limits) -> Bool {
        a.range == b.range && a.step == b.step && a.choices == b.choices
    }

    @usableFromInline
    func hash(into hasher: inout Hasher) {
        hasher.combine(range)
        hasher.combine(step)
        hasher.combine(choices)
    }
}

extension ElementDefinition: Hashable {
    /// Whether both definitions are equal.
    public static func == (a: ElementDefinition, b: ElementDefinition) -> Bool { a === b || a.fields == b.fields }

    /// Hashes everything that is defined.
    public func hash(into hasher: inout Hasher) { hasher.combine(fields) }
}

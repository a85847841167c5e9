/// A typed, named, numbered control or reading, defined once and shared by both ends.
///
/// ```swift
/// enum Lamp {
///     static let brightness = Element<Float>(1, "Brightness", range: 0...1)
///     static let motion     = Element<Vector3>(2, "Motion", transport: .udp)
///     static let all: ElementCatalogue = [brightness, motion]
/// }
/// ```
/// A value of another type does not compile. An invalid definition (an identifier outside 0...127, an empty name) stops
/// the program where it is created, with the element's name in the message; ``init(_:)`` takes a definition that was
/// checked at run time.
///
/// It is an ``ElementDefinition`` that knows the Swift type of its values: one object, which is created once.
// Unchecked because its base class is; it adds no stored property.
public final class Element<Value: ElementRepresentable>: ElementDefinition, @unchecked Sendable {
    /// An element of any type.
    ///
    /// - Parameters:
    ///   - id: the number that stands for the element on the wire, 0...127.
    ///   - name: the name that people see, 1 to 255 UTF-8 bytes.
    ///   - transport: how values travel.
    ///   - unit: the unit of a value, for people.
    ///   - access: who may send a value, seen from the client.
    ///   - latest: whether only the newest unsent value is kept when a connection is slower than its sender.
    public convenience init(
        _ id: Int, _ name: String, transport: Transport = .tcp, unit: String = "", access: Access = .readWrite,
        latest: Bool = false
    ) {
        self.init(
            checked: id, name, transport: transport, unit: unit, access: access, latest: latest)
    }

    override init(fields: Fields) { super.init(fields: fields) }

    private convenience init(
        checked id: Int, _ name: String, transport: Transport, unit: String, range: ClosedRange<Double>? = nil,
        step: Double? = nil, choices: ChoiceTable? = nil, access: Access, latest: Bool
    ) {
        self.init(
            fields: Self.checkedFields(
                id, name, type: Value.elementType, transport: transport, unit: unit, range: range, step: step,
                choices: choices, access: access, latest: latest))
    }
}

// In an extension because what is in the class stays in a device's program, once for each type.
extension Element {
    /// Whether `value` is in the element's range and one of its choices, where it has these.
    @inlinable
    public func allows(_ value: Value) -> Bool {
        guard let limits = fields.limits else { return true }
        if limits.hasChoices { return isChoice(value.wireByteCount, value.write) }
        return limits.range.map { value.isWithin($0) } ?? true
    }

    /// An element with a definition created at run time.
    ///
    /// - Throws: ``WireError`` if the definition is of another type than `Value`'s.
    public convenience init(_ definition: ElementDefinition) throws(WireError) {
        guard definition.type == Value.elementType else {
            throw WireError(
                .invalidDefinition,
                "element '\(definition.name)' (\(definition.id)) is \(definition.type), not \(Value.elementType)")
        }
        self.init(fields: definition.fields)
    }
}

// The roles that an element asks for.
extension Element {
    /// The element with another least role that gets its catalogue entry and its values.
    ///
    /// ```swift
    /// static let position = Element<Vector3>(3, "Position", access: .read).readable(by: .observe)
    /// static let reset    = Element<Bool>(4, "Reset").readable(by: .control).writable(by: .admin)
    /// ```
    /// Below it, a client of a service that is not ``SecurityPolicy/open`` does not learn that the element exists.
    public func readable(by role: Role) -> Element {
        var fields = fields
        fields.readers = role
        return Element(fields: fields)
    }

    /// The element with another least role that may set it. A client without pairing sets no element, whatever the
    /// role, unless the service is ``SecurityPolicy/open``.
    public func writable(by role: Role) -> Element {
        var fields = fields
        fields.writers = role
        return Element(fields: fields)
    }
}

extension Element {
    /// The element with values that carry the time at which they were measured.
    ///
    /// ```swift
    /// static let pose = Element<Vector3>(7, "Pose", transport: .udp, access: .read).withTimes
    /// ```
    public var withTimes: Element {
        var fields = fields
        fields.timed = true
        return Element(fields: fields)
    }
}

// How a person uses a bool.
extension Element where Value == Bool {
    /// The element as a push button, which is on for as long as somebody holds it.
    ///
    /// ```swift
    /// static let horn = Element<Bool>(5, "Horn").momentary
    /// static let stop = Element<Bool>(6, "Emergency stop").urgent
    /// ```
    public var momentary: Element { withKind(.momentary) }

    /// The element as an emergency stop, which user interfaces show before all others.
    public var urgent: Element { withKind(.urgent) }

    private func withKind(_ kind: ElementKind) -> Element {
        var fields = fields
        fields.kind = kind
        return Element(fields: fields)
    }
}

extension Element {
    fileprivate static func table(
        _ choices: ElementChoices<Value>, _ id: Int, _ name: String, range: ClosedRange<Double>?
    ) -> ChoiceTable {
        do throws(ChoiceTable.Problem) {
            return try ChoiceTable(choices.list, type: Value.elementType, range: range)
        } catch {
            #if hasFeature(Embedded)
            // Nobody would read the message.
            fatalError("an element's choices are invalid")
            #else
            preconditionFailure(ElementDefinition.invalid(id, name, error.text).message)
            #endif
        }
    }
}

extension Element where Value: BinaryFloatingPoint {
    /// A number with a range and a step.
    ///
    /// - Parameters:
    ///   - id: the number that stands for the element on the wire, 0...127.
    ///   - name: the name that people see, 1 to 255 UTF-8 bytes.
    ///   - transport: how values travel.
    ///   - unit: the unit of a value, for people.
    ///   - range: the values allowed; others are refused when sent and rejected when received.
    ///   - step: the step in which a control should move, above 0.
    ///   - access: who may send a value, seen from the client.
    ///   - latest: whether only the newest unsent value is kept when a connection is slower than its sender.
    public convenience init(
        _ id: Int, _ name: String, transport: Transport = .tcp, unit: String = "", range: ClosedRange<Value>?,
        step: Value? = nil, access: Access = .readWrite, latest: Bool = false
    ) {
        self.init(
            checked: id, name, transport: transport, unit: unit,
            range: range.map { Double($0.lowerBound)...Double($0.upperBound) }, step: step.map { Double($0) },
            access: access, latest: latest)
    }
}

extension Element where Value: SIMD, Value.Scalar == Float {
    /// A vector with a range that holds for each of its components.
    ///
    /// ```swift
    /// static let colour = Element<Vector3>(3, "Colour", range: 0...1)
    /// ```
    /// - Parameters:
    ///   - id: the number that stands for the element on the wire, 0...127.
    ///   - name: the name that people see, 1 to 255 UTF-8 bytes.
    ///   - transport: how values travel.
    ///   - unit: the unit of a component, for people.
    ///   - range: what each component may be; other vectors are refused when sent and rejected when received.
    ///   - access: who may send a value, seen from the client.
    ///   - latest: whether only the newest unsent value is kept when a connection is slower than its sender.
    public convenience init(
        _ id: Int, _ name: String, transport: Transport = .tcp, unit: String = "", range: ClosedRange<Float>?,
        access: Access = .readWrite, latest: Bool = false
    ) {
        self.init(
            checked: id, name, transport: transport, unit: unit,
            range: range.map { Double($0.lowerBound)...Double($0.upperBound) }, access: access, latest: latest)
    }
}

extension Element where Value: BinaryInteger {
    /// A whole number with a range and a step. Bounds beyond 2^53 are rounded.
    ///
    /// - Parameters:
    ///   - id: the number that stands for the element on the wire, 0...127.
    ///   - name: the name that people see, 1 to 255 UTF-8 bytes.
    ///   - transport: how values travel.
    ///   - unit: the unit of a value, for people.
    ///   - range: the values allowed; others are refused when sent and rejected when received.
    ///   - step: the step in which a control should move, above 0.
    ///   - access: who may send a value, seen from the client.
    ///   - latest: whether only the newest unsent value is kept when a connection is slower than its sender.
    public convenience init(
        _ id: Int, _ name: String, transport: Transport = .tcp, unit: String = "", range: ClosedRange<Value>?,
        step: Value? = nil, access: Access = .readWrite, latest: Bool = false
    ) {
        self.init(
            checked: id, name, transport: transport, unit: unit,
            range: range.map { Double($0.lowerBound)...Double($0.upperBound) }, step: step.map { Double($0) },
            access: access, latest: latest)
    }
    /// A whole number that is one of certain values, each with a name.
    ///
    /// ```swift
    /// static let mode = Element<UInt8>(1, "Mode", choices: [0: "off", 1: "heat", 2: "cool"])
    /// ```
    /// - Parameters:
    ///   - id: the number that stands for the element on the wire, 0...127.
    ///   - name: the name that people see, 1 to 255 UTF-8 bytes.
    ///   - transport: how values travel.
    ///   - unit: the unit of a value, for people.
    ///   - range: the allowed values for peers that do not know choices; all choices lie within it.
    ///   - choices: the values allowed, at most 255; others are refused when sent and rejected when received.
    ///   - access: who may send a value, seen from the client.
    ///   - latest: whether only the newest unsent value is kept when a connection is slower than its sender.
    public convenience init(
        _ id: Int, _ name: String, transport: Transport = .tcp, unit: String = "", range: ClosedRange<Value>? = nil,
        choices: ElementChoices<Value>, access: Access = .readWrite, latest: Bool = false
    ) {
        self.init(
            checked: id, name, transport: transport, unit: unit,
            range: range.map { Double($0.lowerBound)...Double($0.upperBound) },
            choices: Self.table(choices, id, name, range: range.map { Double($0.lowerBound)...Double($0.upperBound) }),
            access: access, latest: latest)
    }

    @available(*, unavailable, message: "name the numbers in a dictionary: choices: [0: \"off\", 1: \"heat\"]")
    public convenience init(
        _ id: Int, _ name: String, transport: Transport = .tcp, unit: String = "", range: ClosedRange<Value>? = nil,
        choices: [String], access: Access = .readWrite, latest: Bool = false
    ) { fatalError() }
}

extension Element where Value: ChoiceCases, Value.RawValue: ElementRepresentable {
    /// One of an enum's cases.
    ///
    /// ```swift
    /// enum Mode: UInt8, CaseIterable, ElementRepresentable { case off, heat, cool }
    /// static let mode = Element<Mode>(1, "Mode")
    /// ```
    /// The element's choices are the raw values, with the names of the cases, or their `description` if the enum has one.
    /// In Embedded Swift it needs one.
    ///
    /// - Parameters:
    ///   - id: the number that stands for the element on the wire, 0...127.
    ///   - name: the name that people see, 1 to 255 UTF-8 bytes.
    ///   - transport: how values travel.
    ///   - unit: the unit of a value, for people.
    ///   - access: who may send a value, seen from the client.
    ///   - latest: whether only the newest unsent value is kept when a connection is slower than its sender.
    public convenience init(
        _ id: Int, _ name: String, transport: Transport = .tcp, unit: String = "", access: Access = .readWrite,
        latest: Bool = false
    ) {
        self.init(
            checked: id, name, transport: transport, unit: unit, choices: Self.table(.cases, id, name, range: nil),
            access: access, latest: latest)
    }
}

extension Element where Value == String {
    /// A text that is one of certain texts.
    ///
    /// - Parameters:
    ///   - id: the number that stands for the element on the wire, 0...127.
    ///   - name: the name that people see, 1 to 255 UTF-8 bytes.
    ///   - transport: how values travel.
    ///   - choices: the texts allowed, at most 255 of 1 to 255 UTF-8 bytes; others are refused when sent and rejected
    ///     when received.
    ///   - access: who may send a value, seen from the client.
    ///   - latest: whether only the newest unsent value is kept when a connection is slower than its sender.
    public convenience init(
        _ id: Int, _ name: String, transport: Transport = .tcp, choices: ElementChoices<Value>,
        access: Access = .readWrite, latest: Bool = false
    ) {
        self.init(
            checked: id, name, transport: transport, unit: "", choices: Self.table(choices, id, name, range: nil),
            access: access, latest: latest)
    }
}

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
/// An element is an ``ElementDefinition`` that also knows the Swift type of its values. Each element is one object.
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

// In an extension: members of the class stay in a device's program, once for each type, even if unused.
extension Element {
    /// Whether `value` is in the element's range and is one of its choices, if the element has them.
    @inlinable
    public func allows(_ value: Value) -> Bool {
        guard let limits = fields.limits else { return true }
        if limits.hasChoices { return isChoice(value.wireByteCount, value.write) }
        return limits.range.map { value.isWithin($0) } ?? true
    }

    /// An element with a definition created at run time.
    ///
    /// - Throws: ``WireError`` if the definition's type is not `Value`'s.
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
    /// Returns a copy of the element whose catalogue entry and values only clients of this role or a higher one
    /// receive.
    ///
    /// ```swift
    /// static let position = Element<Vector3>(3, "Position", access: .read).readable(by: .observe)
    /// static let reset    = Element<Bool>(4, "Reset").readable(by: .control).writable(by: .admin)
    /// ```
    /// On a service that is not ``SecurityPolicy/open``, other clients do not learn that the element exists.
    public func readable(by role: Role) -> Element {
        var fields = fields
        fields.readers = role
        return Element(fields: fields)
    }

    /// Returns a copy of the element that only clients of this role or a higher one may set.
    ///
    /// A client that is not paired may set no element, whatever this role is, unless the service is
    /// ``SecurityPolicy/open``.
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
    /// The element as a push button, which is on while it is held.
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
            // A device does not show the message, so it is left out.
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
    /// A vector with a range for each of its components.
    ///
    /// ```swift
    /// static let colour = Element<Vector3>(3, "Colour", range: 0...1)
    /// ```
    /// - Parameters:
    ///   - id: the number that stands for the element on the wire, 0...127.
    ///   - name: the name that people see, 1 to 255 UTF-8 bytes.
    ///   - transport: how values travel.
    ///   - unit: the unit of a component, for people.
    ///   - range: the range allowed for each component; other vectors are refused when sent and rejected when received.
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
    /// A whole number with a list of allowed values, each with a name.
    ///
    /// ```swift
    /// static let mode = Element<UInt8>(1, "Mode", choices: [0: "off", 1: "heat", 2: "cool"])
    /// ```
    /// - Parameters:
    ///   - id: the number that stands for the element on the wire, 0...127.
    ///   - name: the name that people see, 1 to 255 UTF-8 bytes.
    ///   - transport: how values travel.
    ///   - unit: the unit of a value, for people.
    ///   - range: the allowed values for peers that do not support choices; all choices lie within it.
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
    /// A text with a list of allowed texts.
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

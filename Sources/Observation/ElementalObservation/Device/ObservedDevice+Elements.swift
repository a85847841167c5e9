import ElementalWire

// Elements as values that a view reads and binds to.
extension ObservedDevice {
    /// The element's newest value; `nil` before there is one, and if the service has an element of another type there.
    ///
    /// What is written is shown at once, and sent to the service as soon as it has dealt with the value before; of those
    /// that are written meanwhile only the newest is sent. A value that is outside the element's range, that the element
    /// does not take or that the service refuses is put back, and ``failure(of:)`` says why. What the service says does not
    /// move a control that is being moved: see ``ObservationPace/hold``. Writing `nil` does nothing.
    public subscript<Value: ElementRepresentable>(element: Element<Value>) -> Value? {
        get { value(of: element).flatMap { Value($0) } }
        set { if let newValue { write(newValue.elementValue, to: element) } }
    }

    /// The element's newest value, or another one before there is one: for controls that need a value.
    ///
    /// ```swift
    /// Slider(value: $lamp[Lamp.brightness, default: 0])
    /// ```
    public subscript<Value: ElementRepresentable>(
        element: Element<Value>, default standard: Value
    ) -> Value {
        get { self[element] ?? standard }
        set { self[element] = newValue }
    }

    /// The newest value of a `Codable` element; `nil` before there is one, and if it cannot be decoded. It is decoded on the
    /// main actor, when it is read, once.
    public subscript<Value>(element: Element<JSON<Value>>) -> Value? {
        get { value(of: element) == nil ? nil : cell(element).decodedValue(as: JSON<Value>.self)?.value }
        set {
            guard let newValue else { return }
            do throws(ElementalError) {
                write(try ElementalDevice.json(newValue, element.definition).elementValue, to: element)
            } catch {
                cell(element).reject(error)
            }
        }
    }

    /// The newest value of a `Codable` element, or another one before there is one.
    public subscript<Value>(element: Element<JSON<Value>>, default standard: Value) -> Value {
        get { self[element] ?? standard }
        set { self[element] = newValue }
    }

    /// The newest value of an element whose type is known at run time only, one of ``elements``; `nil` before there is one.
    @_disfavoredOverload
    public subscript(element: ElementDefinition) -> ElementValue? {
        get { cell(element).value }
        set { if let newValue { write(newValue, to: element) } }
    }

    /// The value if it is of the type that the program takes it for.
    private func value(of element: ElementDefinition) -> ElementValue? {
        guard let value = cell(element).value, value.type == element.type else { return nil }
        return value
    }

    /// Why the last value that was written into the element was put back; `nil` if it was not, and from the next write on.
    public func failure(of element: ElementDefinition) -> WriteFailure? { cell(element).failure }

    /// The element's cell, which follows the element from now on.
    func cell(_ element: ElementDefinition) -> ElementCell {
        begin()
        if let cell = cells[element.id] { return cell }
        let definition = definition(of: element)
        let cell = ElementCell(definition, device?.value(of: definition))
        cells[element.id] = cell
        if let device { follow(cell, device) }
        return cell
    }

    /// What the element is like: what both ends have agreed on is true, if it is of that.
    func definition(of element: ElementDefinition) -> ElementDefinition {
        catalogue[id: element.id] ?? element.definition
    }

    func follow(_ cell: ElementCell, _ device: ElementalDevice) {
        cell.isFollowed = true
        let id = cell.definition.id
        device.onArrival(
            of: id, perform: { [inbox] in inbox.put { $0.changed.insert(id) } },
            registered: { [inbox] in inbox.put { $0.first.insert(id) } })
    }
}

/// Why a value that was written into a model was put back.
public enum WriteFailure: Error, Sendable, CustomStringConvertible {
    /// The service refused it.
    case refused(ValueRefusal)
    /// It was not sent: it is outside the element's range, the element takes no values, or the connection has ended.
    case notSent(ElementalError)

    /// The reason, for a person.
    public var description: String {
        switch self {
        case .refused(let refusal): refusal.description.printable
        case .notSent(let error): error.message.printable
        }
    }
}

import ElementalWire

// Elements as values that a view reads and binds to.
extension ObservedDevice {
    /// The element's newest value; `nil` before there is one, and if the service's element has another type.
    ///
    /// A written value is shown at once, and sent when the service has handled the value before. Of the values written
    /// in the meantime only the newest is sent. A value that is outside the element's range, that the element does not
    /// accept or that the service refuses is put back, and ``failure(of:)`` returns the reason. Values from the service
    /// do not change a control while it is moving: see ``ObservationPace/hold``. Writing `nil` does nothing.
    public subscript<Value: ElementRepresentable>(element: Element<Value>) -> Value? {
        get { value(of: element).flatMap { Value($0) } }
        set { if let newValue { write(newValue.elementValue, to: element) } }
    }

    /// The element's newest value, or a default before there is one: for controls that need a value.
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

    /// The newest value of a `Codable` element; `nil` before there is one, and if it cannot be decoded. It is decoded
    /// once, on the main actor, when it is read.
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

    /// The newest value of a `Codable` element, or a default before there is one.
    public subscript<Value>(element: Element<JSON<Value>>, default standard: Value) -> Value {
        get { self[element] ?? standard }
        set { self[element] = newValue }
    }

    /// The newest value of an element whose type is only known at run time, one of ``elements``; `nil` before there is
    /// one.
    @_disfavoredOverload
    public subscript(element: ElementDefinition) -> ElementValue? {
        get { cell(element).value }
        set { if let newValue { write(newValue, to: element) } }
    }

    /// Returns the value if it has the type that the program expects.
    private func value(of element: ElementDefinition) -> ElementValue? {
        guard let value = cell(element).value, value.type == element.type else { return nil }
        return value
    }

    /// Returns why the last value written to the element was put back; `nil` if it was not, and from the next write on.
    public func failure(of element: ElementDefinition) -> WriteFailure? { cell(element).failure }

    /// Returns the element's cell, which follows the element from now on.
    func cell(_ element: ElementDefinition) -> ElementCell {
        begin()
        if let cell = cells[element.id] { return cell }
        let definition = definition(of: element)
        let cell = ElementCell(definition, device?.value(of: definition))
        cells[element.id] = cell
        if let device { follow(cell, device) }
        return cell
    }

    /// Returns the element's definition: the one that both ends have agreed on, if there is one.
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
    /// It was not sent: it is outside the element's range, the element cannot be set, or the connection has ended.
    case notSent(ElementalError)

    /// The reason, for the user.
    public var description: String {
        switch self {
        case .refused(let refusal): refusal.description.printable
        case .notSent(let error): error.message.printable
        }
    }
}

/// One of the values that an element with choices accepts: a number with its name, or a text.
public struct ElementChoice: Sendable, Hashable {
    /// The maximum number of choices of an element.
    public static let maximumCount = 255
    /// The maximum size of an element's choices in a catalogue, in bytes. A choice takes the bytes of its name, one
    /// byte for the name's length, and for a number the bytes of its type.
    public static let maximumByteCount = 4096

    /// The value: an integer of the element's type, or a string.
    public let value: ElementValue
    /// The name that users see and type, 1 to 255 UTF-8 bytes; for a string the string itself.
    public let name: String

    /// A number with its name.
    public init(_ value: ElementValue, _ name: String) {
        self.value = value
        self.name = name
    }

    /// A choice that is a text.
    public init(_ text: String) { self.init(.string(text), text) }
}

/// The choices of a typed ``Element``: numbers with their names, or texts, in the order in which people see them.
///
/// ```swift
/// static let mode  = Element<UInt8>(1, "Mode", choices: [0: "off", 1: "heat", 2: "cool"])
/// static let speed = Element<String>(2, "Speed", choices: ["slow", "fast"])
/// ```
public struct ElementChoices<Value: ElementRepresentable>: Sendable {
    let list: [ElementChoice]
}

extension ElementChoices where Value: FixedWidthInteger {
    /// Numbers with their names, known only at run time.
    public init(_ choices: some Sequence<(Value, String)>) {
        list = choices.map { ElementChoice($0.0.elementValue, $0.1) }
    }
}

#if hasFeature(Embedded)
/// An enum whose cases are choices. Embedded Swift cannot name a case, so `description` does.
public typealias ChoiceCases = CaseIterable & RawRepresentable & CustomStringConvertible
#else
/// An enum whose cases are choices.
public typealias ChoiceCases = CaseIterable & RawRepresentable
#endif

extension ElementChoices where Value: ChoiceCases, Value.RawValue: ElementRepresentable {
    static var cases: ElementChoices {
        ElementChoices(
            list: Value.allCases.map { value in
                if case .string(let text) = value.elementValue { return ElementChoice(text) }
                #if hasFeature(Embedded)
                return ElementChoice(value.elementValue, value.description)
                #else
                return ElementChoice(value.elementValue, "\(value)")
                #endif
            })
    }
}

extension ElementChoices: ExpressibleByDictionaryLiteral where Value: FixedWidthInteger {
    /// Numbers with their names.
    public init(dictionaryLiteral choices: (Value, String)...) { self.init(choices) }
}

extension ElementChoices where Value == String {
    /// Texts known only at run time.
    public init(_ texts: some Sequence<String>) { list = texts.map { ElementChoice($0) } }
}

extension ElementChoices: ExpressibleByArrayLiteral where Value == String {
    /// Texts.
    public init(arrayLiteral texts: String...) { self.init(texts) }
}

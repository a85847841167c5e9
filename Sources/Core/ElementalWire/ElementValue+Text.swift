#if !hasFeature(Embedded)
extension ElementValue: CustomStringConvertible {
    /// The value as text that ``init(text:type:)`` reads back: numbers in decimal, vectors as numbers joined by
    /// commas, data as hexadecimal digits, a string as it is.
    public var description: String { plainForm.description }

    /// The value as formats like JSON have it.
    package var plainForm: PlainForm { visit(PlainVisitor()) }

    /// Parses a value of `type` from user input.
    ///
    /// Integers may be given in decimal or as `0x` and hexadecimal digits; `float` and `double` also accept fractions,
    /// exponents, and the words `nan`, `inf` and `-inf`; `bool` accepts true/false, yes/no, on/off and 1/0; vectors are
    /// numbers joined by commas; `data` is pairs of hexadecimal digits. Blanks around a number or word are ignored;
    /// blanks within one are an error. A `string` is accepted as it is.
    /// - Throws: ``WireError`` with the code ``WireError/Code/invalidText`` and the expected input, also for a number
    ///   that is out of the type's range.
    public init(text: String, type: ElementType) throws(WireError) {
        let read = type.visit(TypedVisitor(text: text))
        guard let value = read.value else {
            throw WireError(.invalidText, "'\(text.excerpt)' is not a valid \(type): give \(read.expectation)")
        }
        self = value
    }

    /// Parses a value of the element from user input: the name of a choice if the element has choices, or a value of
    /// the element's type.
    ///
    /// A name matches exactly, or else without regard to case; then the first match counts. A number is accepted even
    /// if it is none of the choices.
    /// - Throws: ``WireError`` with the code ``WireError/Code/invalidText`` and the expected input.
    public init(text: String, of element: ElementDefinition) throws(WireError) {
        guard let table = element.fields.choices else {
            try self.init(text: text, type: element.type)
            return
        }
        if element.type != .string, let number = try? ElementValue(text: text, type: element.type) {
            self = number
        } else if let choice = table.choice(named: text) {
            self = choice.value
        } else {
            throw WireError(
                .invalidText, "'\(text.excerpt)' is not one of its choices; give one of \(element.choicesText)")
        }
    }

    private struct PlainVisitor: ElementValueVisitor {
        func visit(_ value: some ValueType) -> PlainForm { value.plainForm }
    }

    private struct TypedVisitor: ElementTypeVisitor {
        let text: String

        func visit<Value: ValueType>(_: String, _: Value.Type) -> (value: ElementValue?, expectation: String) {
            let value = Value(typed: text[...])
            return (value?.elementValue, value == nil ? Value.typedForm : "")
        }
    }
}

extension ElementType {
    /// A bound or step in the shortest decimal that stands for a value of the type: 0.05 for a float, not
    /// 0.05000000074505806, and whole numbers without a fraction.
    package func text(of number: Double) -> String {
        if let whole = Int64(exactly: number) { return String(whole) }
        let float = Float(number)
        return self != .double && Double(float) == number ? float.description : number.description
    }
}

extension ElementDefinition {
    /// The range as text, such as `0...1`; `nil` if there is none.
    package var rangeText: String? {
        range.map { "\(type.text(of: $0.lowerBound))...\(type.text(of: $0.upperBound))" }
    }

    /// The value as text for the user: the name of its choice, or text that ``ElementValue`` can parse.
    public func text(of value: ElementValue) -> String { choice(value)?.name ?? value.description }

    /// The choice with this value, or `nil`.
    public func choice(_ value: ElementValue) -> ElementChoice? { choices.first { $0.value == value } }

    /// The choices for a message, at most the first 20.
    package var choicesText: String {
        let shown = 20
        let texts = choices.prefix(shown).map { choice in
            type == .string ? "'\(choice.name)'" : "'\(choice.name)' (\(choice.value))"
        }
        let more = choices.count > shown ? " and \(choices.count - shown) more" : ""
        return texts.joined(separator: ", ") + more
    }
}
#endif

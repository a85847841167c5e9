import ElementalWire
import SignalR

/// An element's value in the form for a hub, with all its digits: a number, a text, bytes, or a list of numbers.
struct HubElementValue: Encodable, Sendable {
    private let value: ElementValue

    init(_ value: ElementValue) { self.value = value }

    func encode(to encoder: any Encoder) throws {
        try value.visit(EncodingVisitor(encoder: encoder)).get()
    }

    private struct EncodingVisitor: ElementValueVisitor {
        let encoder: any Encoder

        func visit(_ value: some ValueType) -> Result<Void, any Error> {
            Result {
                // Uses a container, because encoders recognise data by its type.
                var container = encoder.singleValueContainer()
                try container.encode(value)
            }
        }
    }
}

extension HubArguments {
    /// - Throws: ``SignalRError/Code/invalidResult`` if the first argument is missing or has another type.
    func elementValue(of type: ElementType) throws(SignalRError) -> ElementValue {
        try type.visit(DecodingVisitor(arguments: self)).get()
    }

    private struct DecodingVisitor: ElementTypeVisitor {
        let arguments: HubArguments

        func visit<Value: ValueType>(_: String, _: Value.Type) -> Result<ElementValue, SignalRError> {
            Result { () throws(SignalRError) in try arguments.decode(Value.self, at: 0).elementValue }
        }
    }
}

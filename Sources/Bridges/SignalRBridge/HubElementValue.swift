import ElementalWire
import SignalR

/// An element's value as it is sent to a hub, with all its digits: a number, a text, bytes, or a list of numbers.
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
                // By way of a container: encoders know data by its type.
                var container = encoder.singleValueContainer()
                try container.encode(value)
            }
        }
    }
}

extension HubArguments {
    /// - Throws: ``SignalRError/Code/invalidResult`` if there is no first argument or it is of another type.
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

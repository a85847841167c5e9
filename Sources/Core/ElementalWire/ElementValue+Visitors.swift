/// Does something with a value in its own Swift type. Unlike an existential it costs nothing at run time, and it compiles
/// in Embedded Swift.
protocol ElementValueVisitor {
    associatedtype Result
    func visit(_ value: some ElementRepresentable) -> Result
}

extension ElementValue {
    /// Hands the value to the visitor as the Swift type that stands for its wire type.
    func visit<Visitor: ElementValueVisitor>(_ visitor: Visitor) -> Visitor.Result {
        switch self {
        case .int8(let value): visitor.visit(value)
        case .uint8(let value): visitor.visit(value)
        case .int16(let value): visitor.visit(value)
        case .uint16(let value): visitor.visit(value)
        case .int32(let value): visitor.visit(value)
        case .uint32(let value): visitor.visit(value)
        case .int64(let value): visitor.visit(value)
        case .uint64(let value): visitor.visit(value)
        case .float(let value): visitor.visit(value)
        case .double(let value): visitor.visit(value)
        case .string(let value): visitor.visit(value)
        case .data(let value): visitor.visit(value)
        case .bool(let value): visitor.visit(value)
        case .float2(let value): visitor.visit(value)
        case .float3(let value): visitor.visit(value)
        case .float4(let value): visitor.visit(value)
        case .float4x4(let value): visitor.visit(value)
        }
    }

    struct TypeVisitor: ElementValueVisitor {
        func visit<Value: ElementRepresentable>(_: Value) -> ElementType { Value.elementType }
    }

    struct ByteCountVisitor: ElementValueVisitor {
        func visit(_ value: some ElementRepresentable) -> Int { value.wireByteCount }
    }

    struct WritingVisitor: ElementValueVisitor {
        let destination: UnsafeMutableRawPointer

        func visit(_ value: some ElementRepresentable) { value.writeWireBytes(to: destination) }
    }

    struct NumberVisitor: ElementValueVisitor {
        func visit(_ value: some ElementRepresentable) -> Double? { value.rangeValue }
    }
}

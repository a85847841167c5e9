/// An operation on a value in its own Swift type. Unlike an existential it costs nothing at run time, and it compiles
/// in Embedded Swift.
package protocol ElementValueVisitor {
    associatedtype Result
    func visit(_ value: some ValueType) -> Result
}

extension ElementValue {
    struct TypeVisitor: ElementValueVisitor {
        func visit<Value: ValueType>(_: Value) -> ElementType { Value.elementType }
    }

    struct ByteCountVisitor: ElementValueVisitor {
        func visit(_ value: some ValueType) -> Int { value.wireByteCount }
    }

    struct WritingVisitor: ElementValueVisitor {
        let destination: UnsafeMutableRawBufferPointer

        func visit(_ value: some ValueType) { _ = value.write(to: destination) }
    }

    struct NumberVisitor: ElementValueVisitor {
        func visit(_ value: some ValueType) -> Double? { value.rangeValue }
    }

    struct RangeVisitor: ElementValueVisitor {
        let range: ClosedRange<Double>

        func visit(_ value: some ValueType) -> Bool { value.isWithin(range) }
    }

    struct ReadingVisitor: ElementTypeVisitor {
        let bytes: UnsafeRawBufferPointer

        func visit<Value: ValueType>(_: String, _: Value.Type) -> ElementValue? {
            Value(wireBytes: bytes)?.elementValue
        }
    }
}

extension ElementType {
    /// Whether the value of the type whose wire form is `bytes` is within a range. Every received value of an element
    /// with a range is checked here, because an ``ElementValue`` would take five times as long.
    package func isWithin(_ range: ClosedRange<Double>, _ bytes: UnsafeRawBufferPointer) -> Bool {
        visit(RangeReadingVisitor(range: range, bytes: bytes))
    }

    private struct RangeReadingVisitor: ElementTypeVisitor {
        let range: ClosedRange<Double>
        let bytes: UnsafeRawBufferPointer

        @inline(__always)
        func visit<Value: ValueType>(_: String, _: Value.Type) -> Bool {
            guard Value.isNumeric || Value.isVector else { return true }
            return Value(wireBytes: bytes)?.isWithin(range) ?? true
        }
    }

    /// The number whose wire form, as a value of the type, is `bytes`; `nil` if the type is not numeric.
    package func number(_ bytes: UnsafeRawBufferPointer) -> Double? { visit(NumberReadingVisitor(bytes: bytes)) }

    private struct NumberReadingVisitor: ElementTypeVisitor {
        let bytes: UnsafeRawBufferPointer

        @inline(__always)
        func visit<Value: ValueType>(_: String, _: Value.Type) -> Double? {
            Value.isNumeric ? Value(wireBytes: bytes)?.rangeValue : nil
        }
    }
}

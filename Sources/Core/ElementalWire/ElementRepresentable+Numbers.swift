extension ElementRepresentable where Self: FixedWidthInteger {
    @inlinable
    public var rangeValue: Double? { Double(self) }

    @inlinable
    public init?(wireBytes bytes: UnsafeRawBufferPointer) {
        guard bytes.count == MemoryLayout<Self>.size else { return nil }
        self.init(littleEndian: bytes.loadUnaligned(as: Self.self))
    }

    @inlinable
    public var wireByteCount: Int { MemoryLayout<Self>.size }

    @inlinable
    @inline(__always)
    public func writeWireBytes(to destination: inout OutputRawSpan) {
        write(MemoryLayout<Self>.size, to: &destination) { $0.storeBytes(of: littleEndian, as: Self.self) }
    }
}

extension Int8: ElementRepresentable, ValueType {
    public static var elementType: ElementType { .int8 }
    public var elementValue: ElementValue { .int8(self) }
    public init?(_ elementValue: ElementValue) {
        guard case .int8(let value) = elementValue else { return nil }
        self = value
    }
}

extension UInt8: ElementRepresentable, ValueType {
    public static var elementType: ElementType { .uint8 }
    public var elementValue: ElementValue { .uint8(self) }
    public init?(_ elementValue: ElementValue) {
        guard case .uint8(let value) = elementValue else { return nil }
        self = value
    }
}

extension Int16: ElementRepresentable, ValueType {
    public static var elementType: ElementType { .int16 }
    public var elementValue: ElementValue { .int16(self) }
    public init?(_ elementValue: ElementValue) {
        guard case .int16(let value) = elementValue else { return nil }
        self = value
    }
}

extension UInt16: ElementRepresentable, ValueType {
    public static var elementType: ElementType { .uint16 }
    public var elementValue: ElementValue { .uint16(self) }
    public init?(_ elementValue: ElementValue) {
        guard case .uint16(let value) = elementValue else { return nil }
        self = value
    }
}

extension Int32: ElementRepresentable, ValueType {
    public static var elementType: ElementType { .int32 }
    public var elementValue: ElementValue { .int32(self) }
    public init?(_ elementValue: ElementValue) {
        guard case .int32(let value) = elementValue else { return nil }
        self = value
    }
}

extension UInt32: ElementRepresentable, ValueType {
    public static var elementType: ElementType { .uint32 }
    public var elementValue: ElementValue { .uint32(self) }
    public init?(_ elementValue: ElementValue) {
        guard case .uint32(let value) = elementValue else { return nil }
        self = value
    }
}

extension Int64: ElementRepresentable, ValueType {
    public static var elementType: ElementType { .int64 }
    public var elementValue: ElementValue { .int64(self) }
    public init?(_ elementValue: ElementValue) {
        guard case .int64(let value) = elementValue else { return nil }
        self = value
    }
}

extension UInt64: ElementRepresentable, ValueType {
    public static var elementType: ElementType { .uint64 }
    public var elementValue: ElementValue { .uint64(self) }
    public init?(_ elementValue: ElementValue) {
        guard case .uint64(let value) = elementValue else { return nil }
        self = value
    }
}

extension Float: ElementRepresentable, ValueType {
    public static var elementType: ElementType { .float }
    package static var isNumeric: Bool { true }

    @inlinable
    public init?(wireBytes bytes: UnsafeRawBufferPointer) {
        guard let bits = UInt32(wireBytes: bytes) else { return nil }
        self.init(bitPattern: bits)
    }

    @inlinable
    public var wireByteCount: Int { 4 }

    @inlinable
    @inline(__always)
    public func writeWireBytes(to destination: inout OutputRawSpan) {
        bitPattern.writeWireBytes(to: &destination)
    }

    @inlinable
    public var rangeValue: Double? { Double(self) }

    public var elementValue: ElementValue { .float(self) }

    public init?(_ elementValue: ElementValue) {
        guard case .float(let value) = elementValue else { return nil }
        self = value
    }
}

extension Double: ElementRepresentable, ValueType {
    public static var elementType: ElementType { .double }
    package static var isNumeric: Bool { true }

    @inlinable
    public init?(wireBytes bytes: UnsafeRawBufferPointer) {
        guard let bits = UInt64(wireBytes: bytes) else { return nil }
        self.init(bitPattern: bits)
    }

    @inlinable
    public var wireByteCount: Int { 8 }

    @inlinable
    @inline(__always)
    public func writeWireBytes(to destination: inout OutputRawSpan) {
        bitPattern.writeWireBytes(to: &destination)
    }

    @inlinable
    public var rangeValue: Double? { self }

    public var elementValue: ElementValue { .double(self) }

    public init?(_ elementValue: ElementValue) {
        guard case .double(let value) = elementValue else { return nil }
        self = value
    }
}

extension SIMD where Scalar == Float {
    /// Reads scalars that follow one another, first to last, as little-endian binary32.
    @inlinable
    init?(packedFloats bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.scalarCount * 4 else { return nil }
        self.init()
        for index in 0..<Self.scalarCount {
            self[index] = Float(
                bitPattern: UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: index * 4, as: UInt32.self)))
        }
    }

    @inlinable
    func writePackedFloats(to destination: UnsafeMutableRawPointer) {
        for index in 0..<Self.scalarCount {
            destination.storeBytes(of: self[index].bitPattern.littleEndian, toByteOffset: index * 4, as: UInt32.self)
        }
    }

    @inlinable
    func isEachWithin(_ range: ClosedRange<Double>) -> Bool {
        for index in 0..<Self.scalarCount where !range.contains(Double(self[index])) { return false }
        return true
    }
}

extension SIMD2: ElementRepresentable, ValueType, TextualValue where Scalar == Float {
    public static var elementType: ElementType { .float2 }
    @inlinable
    public init?(wireBytes bytes: UnsafeRawBufferPointer) { self.init(packedFloats: bytes) }
    @inlinable
    public var wireByteCount: Int { 8 }
    @inlinable
    public func writeWireBytes(to destination: inout OutputRawSpan) { write(8, to: &destination, writePackedFloats) }
    @inlinable
    public func isWithin(_ range: ClosedRange<Double>) -> Bool { isEachWithin(range) }
    public var elementValue: ElementValue { .float2(self) }
    public init?(_ elementValue: ElementValue) {
        guard case .float2(let value) = elementValue else { return nil }
        self = value
    }
}

extension SIMD3: ElementRepresentable, ValueType, TextualValue where Scalar == Float {
    public static var elementType: ElementType { .float3 }
    // Not the size in memory, which is that of four floats.
    package static var byteCount: Int? { 12 }
    @inlinable
    public init?(wireBytes bytes: UnsafeRawBufferPointer) { self.init(packedFloats: bytes) }
    @inlinable
    public var wireByteCount: Int { 12 }
    @inlinable
    public func writeWireBytes(to destination: inout OutputRawSpan) { write(12, to: &destination, writePackedFloats) }
    @inlinable
    public func isWithin(_ range: ClosedRange<Double>) -> Bool { isEachWithin(range) }
    public var elementValue: ElementValue { .float3(self) }
    public init?(_ elementValue: ElementValue) {
        guard case .float3(let value) = elementValue else { return nil }
        self = value
    }
}

extension SIMD4: ElementRepresentable, ValueType, TextualValue where Scalar == Float {
    public static var elementType: ElementType { .float4 }
    @inlinable
    public init?(wireBytes bytes: UnsafeRawBufferPointer) { self.init(packedFloats: bytes) }
    @inlinable
    public var wireByteCount: Int { 16 }
    @inlinable
    public func writeWireBytes(to destination: inout OutputRawSpan) { write(16, to: &destination, writePackedFloats) }
    @inlinable
    public func isWithin(_ range: ClosedRange<Double>) -> Bool { isEachWithin(range) }
    public var elementValue: ElementValue { .float4(self) }
    public init?(_ elementValue: ElementValue) {
        guard case .float4(let value) = elementValue else { return nil }
        self = value
    }
}

extension Matrix4x4: ElementRepresentable, ValueType {
    public static var elementType: ElementType { .float4x4 }

    @inlinable
    public init?(wireBytes bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 64,
            let c0 = Vector4(packedFloats: UnsafeRawBufferPointer(rebasing: bytes[0..<16])),
            let c1 = Vector4(packedFloats: UnsafeRawBufferPointer(rebasing: bytes[16..<32])),
            let c2 = Vector4(packedFloats: UnsafeRawBufferPointer(rebasing: bytes[32..<48])),
            let c3 = Vector4(packedFloats: UnsafeRawBufferPointer(rebasing: bytes[48..<64]))
        else { return nil }
        self.init(c0, c1, c2, c3)
    }

    @inlinable
    public var wireByteCount: Int { 64 }

    @inlinable
    public func writeWireBytes(to destination: inout OutputRawSpan) {
        columns.0.writeWireBytes(to: &destination)
        columns.1.writeWireBytes(to: &destination)
        columns.2.writeWireBytes(to: &destination)
        columns.3.writeWireBytes(to: &destination)
    }

    public var elementValue: ElementValue { .float4x4(self) }

    public init?(_ elementValue: ElementValue) {
        guard case .float4x4(let value) = elementValue else { return nil }
        self = value
    }
}

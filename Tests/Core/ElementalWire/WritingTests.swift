import ElementalWire
import Foundation
import Testing

/// Writing values into spans, and the form with pointers that preceded it.
struct WritingTests {
    private static let values: [ElementValue] = [
        .int8(-1), .uint16(2), .int32(-3), .uint64(4), .float(0.5), .double(-0.25), .string("é"), .string(""),
        .data(Data([1, 2, 3])), .bool(true), .float2(Vector2(1, 2)), .float3(Vector3(1, 2, 3)),
        .float4(Vector4(1, 2, 3, 4)), .float4x4(Matrix4x4(.zero, .one, .zero, .one)),
    ]

    /// A value of odd length before them puts the rest at odd addresses.
    @Test(arguments: values)
    func aValueIsAppendedBehindOthers(_ value: ElementValue) throws {
        var bytes = [UInt8](repeating: 0, count: 2 * value.wireByteCount + 3)
        let count = bytes.withUnsafeMutableBytes { buffer in
            var destination = OutputRawSpan(buffer: buffer, initializedCount: 0)
            true.writeWireBytes(to: &destination)
            value.writeWireBytes(to: &destination)
            value.writeWireBytes(to: &destination)
            return destination.finalize(for: buffer)
        }
        #expect(count == bytes.count - 2)
        let expected: [[UInt8]] = [[1], value.wireBytes, value.wireBytes, [0, 0]]
        #expect(bytes == Array(expected.joined()))
        #expect(value.wireBytes.withUnsafeBytes { ElementValue(wireBytes: $0, type: value.type) } == value)
    }

    @Test
    func aNumberDoesNotOverflowASpan() async {
        await #expect(processExitsWith: .failure) {
            var bytes: [UInt8] = [0, 0, 0, 0]
            bytes.withUnsafeMutableBytes { buffer in
                var destination = OutputRawSpan(
                    buffer: UnsafeMutableRawBufferPointer(rebasing: buffer[..<3]), initializedCount: 0)
                Float(1).writeWireBytes(to: &destination)
            }
        }
    }

    /// A type that was written for the form with pointers.
    @available(*, deprecated)
    private struct Time: ElementRepresentable {
        static let elementType = ElementType.data
        var hour: UInt8, minute: UInt8

        init(_ hour: UInt8, _ minute: UInt8) { (self.hour, self.minute) = (hour, minute) }
        init?(wireBytes bytes: UnsafeRawBufferPointer) { nil }
        init?(_: ElementValue) { nil }

        var elementValue: ElementValue { .data(Data([hour, minute])) }
        var wireByteCount: Int { 2 }

        func writeWireBytes(to destination: UnsafeMutableRawPointer) {
            destination.storeBytes(of: hour, as: UInt8.self)
            destination.storeBytes(of: minute, toByteOffset: 1, as: UInt8.self)
        }
    }

    @available(*, deprecated)
    @Test
    func theFormWithPointersWorksInBothDirections() {
        #expect(Time(23, 59).written == [23, 59])
        var bytes: [UInt8] = [0, 0, 0, 0, 9]
        bytes.withUnsafeMutableBytes { Float(1).writeWireBytes(to: $0.baseAddress!) }
        #expect(bytes == [0, 0, 0x80, 0x3f, 9])
        bytes.withUnsafeMutableBytes { ElementValue.uint16(1).writeWireBytes(to: $0.baseAddress!) }
        #expect(bytes == [1, 0, 0x80, 0x3f, 9])
    }
}

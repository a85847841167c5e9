import Elemental
import SignalR

#if canImport(FoundationEssentials)
import struct FoundationEssentials.Data
#else
import struct Foundation.Data
#endif

/// An element's value as a hub takes it, with all its digits.
struct HubElementValue: Encodable, Sendable {
    private let value: ElementValue

    init(_ value: ElementValue) { self.value = value }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch value {
        case .int8(let number): try container.encode(number)
        case .uint8(let number): try container.encode(number)
        case .int16(let number): try container.encode(number)
        case .uint16(let number): try container.encode(number)
        case .int32(let number): try container.encode(number)
        case .uint32(let number): try container.encode(number)
        case .int64(let number): try container.encode(number)
        case .uint64(let number): try container.encode(number)
        case .float(let number): try container.encode(number)
        case .double(let number): try container.encode(number)
        case .string(let text): try container.encode(text)
        case .data(let data): try container.encode(data)
        case .bool(let flag): try container.encode(flag)
        case .float2(let vector): try container.encode([vector.x, vector.y])
        case .float3(let vector): try container.encode([vector.x, vector.y, vector.z])
        case .float4(let vector): try container.encode([vector.x, vector.y, vector.z, vector.w])
        case .float4x4(let matrix): try container.encode(matrix.elements)
        }
    }
}

extension HubArguments {
    /// The first argument as a value of an element.
    ///
    /// - Throws: ``SignalRError/Code/invalidResult`` if there is none or it is of another type.
    func elementValue(of type: ElementType) throws(SignalRError) -> ElementValue {
        switch type {
        case .int8: .int8(try decode(at: 0))
        case .uint8: .uint8(try decode(at: 0))
        case .int16: .int16(try decode(at: 0))
        case .uint16: .uint16(try decode(at: 0))
        case .int32: .int32(try decode(at: 0))
        case .uint32: .uint32(try decode(at: 0))
        case .int64: .int64(try decode(at: 0))
        case .uint64: .uint64(try decode(at: 0))
        case .float: .float(try decode(at: 0))
        case .double: .double(try decode(at: 0))
        case .string: .string(try decode(at: 0))
        case .data: .data(try decode(at: 0))
        case .bool: .bool(try decode(at: 0))
        case .float2: .float2(Vector2(try floats(2)))
        case .float3: .float3(Vector3(try floats(3)))
        case .float4: .float4(Vector4(try floats(4)))
        case .float4x4: .float4x4(Matrix4x4(try floats(16)))
        }
    }

    private func floats(_ count: Int) throws(SignalRError) -> [Float] {
        let numbers = try decode([Float].self, at: 0)
        guard numbers.count == count else {
            throw SignalRError(
                .invalidResult, "the hub called '\(method)' with \(numbers.count) numbers, it takes \(count)")
        }
        return numbers
    }
}

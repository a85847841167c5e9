#if canImport(FoundationEssentials)
import struct FoundationEssentials.Data
#else
import struct Foundation.Data
#endif

extension ElementValue: CustomStringConvertible {
    /// The value as text that ``init(text:type:)`` reads back: numbers in decimal, vectors as numbers joined by
    /// commas, data as hexadecimal digits, a string as it is.
    public var description: String {
        switch self {
        case .string(let text): text
        case .data(let data): Self.hex(data)
        case .float2(let vector): Self.join([vector.x, vector.y])
        case .float3(let vector): Self.join([vector.x, vector.y, vector.z])
        case .float4(let vector): Self.join([vector.x, vector.y, vector.z, vector.w])
        case .float4x4(let matrix): Self.join(matrix.elements)
        case .bool(let value): value ? "true" : "false"
        case .int8(let value): String(value)
        case .uint8(let value): String(value)
        case .int16(let value): String(value)
        case .uint16(let value): String(value)
        case .int32(let value): String(value)
        case .uint32(let value): String(value)
        case .int64(let value): String(value)
        case .uint64(let value): String(value)
        case .float(let value): String(value)
        case .double(let value): String(value)
        }
    }

    /// Reads a value of `type` from text, as a person types it.
    ///
    /// Integers may be given in decimal or as `0x` and hexadecimal digits; `bool` takes true/false, yes/no, on/off
    /// and 1/0; vectors take numbers joined by commas; `data` takes pairs of hexadecimal digits.
    /// - Throws: ``WireError`` with the code ``WireError/Code/invalidText`` and what would have been accepted.
    public init(text: String, type: ElementType) throws(WireError) {
        let value: ElementValue? =
            switch type {
            case .int8: Self.integer(text).map(ElementValue.int8)
            case .uint8: Self.integer(text).map(ElementValue.uint8)
            case .int16: Self.integer(text).map(ElementValue.int16)
            case .uint16: Self.integer(text).map(ElementValue.uint16)
            case .int32: Self.integer(text).map(ElementValue.int32)
            case .uint32: Self.integer(text).map(ElementValue.uint32)
            case .int64: Self.integer(text).map(ElementValue.int64)
            case .uint64: Self.integer(text).map(ElementValue.uint64)
            case .float: Float(text).map(ElementValue.float)
            case .double: Double(text).map(ElementValue.double)
            case .string: .string(text)
            case .data: Self.bytes(hex: text).map { .data(Data($0)) }
            case .bool: Self.truth(text).map(ElementValue.bool)
            case .float2: Self.floats(text, count: 2).map { .float2(Vector2($0)) }
            case .float3: Self.floats(text, count: 3).map { .float3(Vector3($0)) }
            case .float4: Self.floats(text, count: 4).map { .float4(Vector4($0)) }
            case .float4x4: Self.floats(text, count: 16).map { .float4x4(Matrix4x4($0)) }
            }
        guard let value else {
            throw WireError(.invalidText, "'\(text.prefix(80))' is no \(type): give \(Self.expectation(of: type))")
        }
        self = value
    }

    private static func integer<Integer: FixedWidthInteger>(_ text: String) -> Integer? {
        let lowered = text.lowercased()
        if lowered.hasPrefix("0x") { return Integer(lowered.dropFirst(2), radix: 16) }
        if lowered.hasPrefix("-0x") { return Integer("-" + lowered.dropFirst(3), radix: 16) }
        return Integer(lowered)
    }

    private static func truth(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "true", "yes", "on", "1": true
        case "false", "no", "off", "0": false
        default: nil
        }
    }

    private static func floats(_ text: String, count: Int) -> [Float]? {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part in Float(part.filter { !$0.isWhitespace }) }
        return parts.count == count && numbers.count == count ? numbers : nil
    }

    private static func bytes(hex text: String) -> [UInt8]? {
        let digits = Array((text.lowercased().hasPrefix("0x") ? text.dropFirst(2) : text[...]).utf8)
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = Character(Unicode.Scalar(digits[index])).hexDigitValue,
                let low = Character(Unicode.Scalar(digits[index + 1])).hexDigitValue
            else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        return bytes
    }

    private static func hex(_ data: Data) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(data.count * 2)
        for byte in data {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func join(_ floats: [Float]) -> String {
        floats.map { String($0) }.joined(separator: ",")
    }

    private static func expectation(of type: ElementType) -> String {
        switch type {
        case .int8: "a whole number from -128 to 127"
        case .uint8: "a whole number from 0 to 255"
        case .int16: "a whole number from -32768 to 32767"
        case .uint16: "a whole number from 0 to 65535"
        case .int32: "a whole number from \(Int32.min) to \(Int32.max)"
        case .uint32: "a whole number from 0 to \(UInt32.max)"
        case .int64: "a whole number from \(Int64.min) to \(Int64.max)"
        case .uint64: "a whole number from 0 to \(UInt64.max)"
        case .float, .double: "a number such as 0.5 or -1e3"
        case .string: "text"
        case .data: "pairs of hexadecimal digits such as 00ff10"
        case .bool: "true or false"
        case .float2: "2 numbers such as 1,2"
        case .float3: "3 numbers such as 1,2,3"
        case .float4: "4 numbers such as 1,2,3,4"
        case .float4x4: "16 numbers joined by commas, column by column"
        }
    }
}

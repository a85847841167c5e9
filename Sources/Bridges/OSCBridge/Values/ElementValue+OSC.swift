import Elemental
internal import ElementalFollowing
internal import ElementalWire
internal import NIOCore
internal import NIOFoundationEssentialsCompat
internal import OSC

#if canImport(FoundationEssentials)
internal import struct FoundationEssentials.Data
#else
internal import struct Foundation.Data
#endif

extension ElementDefinition {
    /// The OSCQuery type tags of the element's values. For a switch, `T` stands for both `T` and `F`.
    var oscTypeTags: String {
        switch type {
        case .int8, .uint8, .int16, .uint16, .int32: "i"
        case .uint32, .int64, .uint64: isSmall ? "i" : "h"
        case .float: "f"
        case .double: "d"
        case .string: "s"
        case .data: "b"
        case .bool: "T"
        case .float2: "ff"
        case .float3: "fff"
        case .float4: "ffff"
        case .float4x4: String(repeating: "f", count: 16)
        }
    }

    /// Whether all values of an integer fit into 32 bits.
    private var isSmall: Bool {
        guard let range else { return false }
        return range.lowerBound >= Double(Int32.min) && range.upperBound <= Double(Int32.max)
    }

    /// - Throws: ``ElementalError`` for a text with NUL, which OSC cannot express.
    func oscArguments(_ value: ElementValue) throws(ElementalError) -> [OSCArgument] {
        if case .data(let bytes) = value { return [.blob(ByteBuffer(bytes: bytes))] }
        switch value.plainForm {
        case .integer(let digits):
            if oscTypeTags == "i", let number = Int32(digits) { return [.int32(number)] }
            // OSC has no unsigned 64-bit type: a string keeps all digits of the largest numbers.
            return [Int64(digits).map { .int64($0) } ?? .string(digits)]
        case .float(let number): return [.float(number)]
        case .double(let number): return [.double(number)]
        case .bool(let isOn): return [.bool(isOn)]
        case .text(let text):
            guard !text.utf8.contains(0) else {
                throw ElementalError(.invalidValue, "OSC cannot send a text that contains NUL")
            }
            return [.string(text)]
        case .floats(let numbers): return numbers.map { .float($0) }
        }
    }

    /// Converts arguments to the element's type, because surfaces send `f` for nearly everything. Numbers of any type
    /// are accepted, rounded for integer elements, and clamped to the element's type and range.
    func value(oscArguments arguments: [OSCArgument]) throws(ElementalError) -> ElementValue {
        var arguments = arguments
        if arguments.count == 1, case .array(let elements) = arguments[0] { arguments = elements }
        let value = try anyValue(arguments)
        guard allows(value) else {
            throw ElementalError(.outOfRange, "the value is not one of its choices, or is outside its range")
        }
        return value
    }

    private func anyValue(_ arguments: [OSCArgument]) throws(ElementalError) -> ElementValue {
        if let count = type.floatCount {
            if count == 4, arguments.count == 1, case .color(let color) = arguments[0] {
                func part(_ shift: UInt32) -> Float { Float(color >> shift & 255) / 255 }
                return .float4([part(24), part(16), part(8), part(0)])
            }
            guard arguments.count == count else {
                throw ElementalError(.wrongType, "it takes \(count) numbers, not \(arguments.count)")
            }
            var numbers: [Float] = []
            for argument in arguments {
                guard let number = argument.number else { throw expectation }
                numbers.append(single(try inRange(number)))
            }
            switch type {
            case .float2: return .float2(Vector2(numbers))
            case .float3: return .float3(Vector3(numbers))
            case .float4: return .float4(Vector4(numbers))
            default: return .float4x4(Matrix4x4(numbers))
            }
        }
        guard arguments.count == 1 else {
            throw ElementalError(.wrongType, "it takes one argument, not \(arguments.count)")
        }
        let argument = arguments[0]
        switch type {
        case .bool: return .bool(try bool(argument))
        case .string: return .string(try text(argument))
        case .data: return .data(try data(argument))
        case .float: return .float(try float(argument))
        case .double: return .double(try double(argument))
        case .int8: return .int8(try integer(argument))
        case .uint8: return .uint8(try integer(argument))
        case .int16: return .int16(try integer(argument))
        case .uint16: return .uint16(try integer(argument))
        case .int32: return .int32(try integer(argument))
        case .uint32: return .uint32(try integer(argument))
        case .int64: return .int64(try integer(argument))
        case .uint64: return .uint64(try integer(argument))
        case .float2, .float3, .float4, .float4x4: throw expectation
        }
    }

    private var expectation: ElementalError {
        let what =
            switch type {
            case .bool: "T, F, or a number, where 0.5 or more means on"
            case .string: "a text"
            case .data: "a blob"
            default: "numbers"
            }
        return ElementalError(.wrongType, "it takes \(what)")
    }

    private func bool(_ argument: OSCArgument) throws(ElementalError) -> Bool {
        if case .impulse = argument { return true }
        if let text = argument.text {
            guard case .bool(let isOn)? = try? ElementValue(text: text, type: .bool) else { throw expectation }
            return isOn
        }
        guard let number = argument.number, !number.isNaN else { throw expectation }
        return number >= 0.5
    }

    private func text(_ argument: OSCArgument) throws(ElementalError) -> String {
        if let text = argument.text { return text }
        switch argument {
        case .int32(let number): return String(number)
        case .int64(let number): return String(number)
        case .float(let number): return number.description
        case .double(let number): return number.description
        case .bool(let isOn): return isOn ? "true" : "false"
        case .character(let code):
            guard let scalar = Unicode.Scalar(code) else { throw expectation }
            return String(Character(scalar))
        case .blob(let bytes):
            guard let text = String(validating: bytes.readableBytesView, as: UTF8.self) else { throw expectation }
            return text
        default: throw expectation
        }
    }

    private func data(_ argument: OSCArgument) throws(ElementalError) -> Data {
        switch argument {
        case .blob(let bytes): Data(buffer: bytes)
        case .string(let text), .symbol(let text): Data(text.utf8)
        default: throw expectation
        }
    }

    private func float(_ argument: OSCArgument) throws(ElementalError) -> Float {
        if case .float(let number) = argument, range == nil { return number }
        return single(try double(argument))
    }

    /// Returns the nearest float, which is finite unless the number is infinite.
    private func single(_ number: Double) -> Float {
        let nearest = Float(number)
        guard nearest.isInfinite, number.isFinite else { return nearest }
        return number < 0 ? -.greatestFiniteMagnitude : .greatestFiniteMagnitude
    }

    private func double(_ argument: OSCArgument) throws(ElementalError) -> Double {
        let typed = argument.text.flatMap { (try? ElementValue(text: $0, of: self))?.numericValue }
        guard let number = typed ?? argument.number else { throw expectation }
        return try inRange(number)
    }

    private func inRange(_ number: Double) throws(ElementalError) -> Double {
        guard let range else { return number }
        guard !number.isNaN else { throw ElementalError(.invalidValue, "the value is not a number") }
        let inside = min(max(number, range.lowerBound), range.upperBound)
        guard type != .double else { return inside }
        // The float nearest to a bound of the range may be below or above it.
        let rounded = Float(inside)
        if Double(rounded) > range.upperBound { return Double(rounded.nextDown) }
        if Double(rounded) < range.lowerBound { return Double(rounded.nextUp) }
        return inside
    }

    private func integer<Integer: FixedWidthInteger>(_ argument: OSCArgument) throws(ElementalError) -> Integer {
        let whole = Integer(clamping: try wholeNumber(argument))
        guard let range else { return whole }
        if Double(whole) < range.lowerBound {
            return Integer(exactly: range.lowerBound.rounded(.up)) ?? whole
        }
        if Double(whole) > range.upperBound {
            return Integer(exactly: range.upperBound.rounded(.down)) ?? whole
        }
        return whole
    }

    private func wholeNumber(_ argument: OSCArgument) throws(ElementalError) -> Int128 {
        switch argument {
        case .int64(let number): return Int128(number)
        case .timeTag(let time): return Int128(time.rawValue)
        case .string(let text), .symbol(let text):
            let value = try? ElementValue(text: text, of: self)
            guard let number = value.flatMap({ Int128($0.description) }) ?? Int128(rounding: text) else {
                throw expectation
            }
            return number
        default:
            guard let number = argument.number else { throw expectation }
            guard let whole = Int128(rounding: number) else {
                throw ElementalError(.invalidValue, "the value is not a number")
            }
            return whole
        }
    }
}

extension OSCArgument {
    var number: Double? {
        switch self {
        case .int32(let number): Double(number)
        case .float(let number): Double(number)
        case .int64(let number): Double(number)
        case .double(let number): number
        case .timeTag(let time): Double(time.rawValue)
        case .character(let number), .color(let number), .midi(let number): Double(number)
        case .bool(let isOn): isOn ? 1 : 0
        case .impulse: 1
        case .string, .symbol, .blob, .null, .array: nil
        }
    }

    var text: String? {
        switch self {
        case .string(let text), .symbol(let text): text
        default: nil
        }
    }
}

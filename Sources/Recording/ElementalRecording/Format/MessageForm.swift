internal import Elemental
internal import ElementalWire
internal import Support

/// The place of the value in a message.
enum MessageForm: Sendable, Equatable {
    case member(String)
    /// The object itself is a vector, with `x`, `y` and perhaps `z` and `w`.
    case vector
    /// The value is the message's whole text.
    case text

    /// The form of this framework's messages.
    static let own = MessageForm.member("value")

    /// Decodes a value; `nil` if the message has none of this type.
    func value(of message: [UInt8], _ type: ElementType) -> ElementValue? {
        if case .text = self { return String(validating: message, as: UTF8.self).map { .string($0) } }
        return message.withUnsafeBytes { bytes in
            var reader = JSONReader(bytes)
            var value: ElementValue?
            if case .member(let wanted) = self {
                let isWhole = reader.object { name, reader in
                    guard name == wanted, value == nil else { return reader.skip() != nil }
                    value = ElementValue(&reader, type)
                    return value != nil
                }
                guard isWhole else { return nil }
            } else {
                value = ElementValue(&reader, type)
            }
            return reader.isAtEnd() ? value : nil
        }
    }

    /// Infers the form and type of messages of other programs from the first of them. Numbers are doubles; objects of
    /// `x`, `y`, `z` and `w` and short lists of numbers are vectors. An object without a recognisable value stays text.
    static func inferred(from message: [UInt8]) -> (form: MessageForm, type: ElementType)? {
        var members: [(name: String, type: ElementType?)] = []
        let isObject = message.withUnsafeBytes { bytes in
            var reader = JSONReader(bytes)
            return reader.object { name, reader in
                // An object with more members than this is not a single value.
                guard members.count < 64 else { return reader.skip() != nil }
                let before = reader
                members.append((name, Self.type(&reader)))
                reader = before
                return reader.skip() != nil
            } && reader.isAtEnd()
        }
        guard isObject else { return nil }
        if let value = members.first(where: { $0.name == "value" }), let type = value.type { return (.own, type) }
        if members.count == 1, let type = members[0].type { return (.member(members[0].name), type) }
        let isVector = members.allSatisfy { ["x", "y", "z", "w"].contains($0.name) && $0.type == .double }
        if isVector, let type = vectors[members.count] { return (.vector, type) }
        return (.text, .string)
    }

    private static let vectors: [Int: ElementType] = [2: .float2, 3: .float3, 4: .float4, 16: .float4x4]

    /// Reads the type of the next value; `nil` if it is not a single value.
    private static func type(_ reader: inout JSONReader) -> ElementType? {
        switch reader.kind() {
        case .number: return .double
        case .bool: return .bool
        case .string: return .string
        case .array:
            var count = 0
            let isWhole = reader.array { reader in
                count += 1
                return count <= 16 && reader.number() != nil
            }
            return isWhole ? vectors[count] : nil
        case .object:
            var names: [String] = []
            let isWhole = reader.object { name, reader in
                names.append(name)
                return ["x", "y", "z", "w"].contains(name) && names.count <= 4 && reader.number() != nil
            }
            return isWhole && Set(names).count == names.count ? vectors[names.count] : nil
        case .null, nil: return nil
        }
    }
}

import Elemental
internal import ElementalWire
internal import NIOCore

/// How values are written as payloads.
struct PayloadFormat: Sendable {
    /// Whether numbers that are not finite become `None`, which Home Assistant takes for unknown. At `nan` it would log an
    /// exception for each message and show the value before.
    let isForHomeAssistant: Bool

    /// A value as a payload: numbers, texts and names of choices as text, `true` and `false`, vectors and matrices as JSON
    /// arrays, data as it is.
    func payload(_ value: ElementValue, of element: ElementDefinition) -> ByteBuffer {
        if case .data(let bytes) = value { return ByteBuffer(bytes: bytes) }
        if let choice = element.choice(value) { return ByteBuffer(string: choice.name) }
        switch value.plainForm {
        case .integer(let digits): return ByteBuffer(string: digits)
        case .float(let number): return ByteBuffer(string: text(number))
        case .double(let number): return ByteBuffer(string: text(number))
        case .bool(let flag): return ByteBuffer(string: flag ? "true" : "false")
        case .text(let text): return ByteBuffer(string: text)
        case .floats(let numbers):
            // JSON has neither NaN nor infinity.
            let texts = numbers.map { $0.isFinite ? $0.description : "null" }
            return ByteBuffer(string: "[" + texts.joined(separator: ",") + "]")
        }
    }

    private func text(_ number: some BinaryFloatingPoint & LosslessStringConvertible) -> String {
        isForHomeAssistant && !number.isFinite ? "None" : number.description
    }
}

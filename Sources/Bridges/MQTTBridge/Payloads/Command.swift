import Elemental
internal import ElementalFollowing
internal import ElementalWire
internal import NIOCore
internal import Support

#if canImport(FoundationEssentials)
internal import struct FoundationEssentials.Data
#else
internal import struct Foundation.Data
#endif

/// A command to set an element: a payload, and perhaps the index of the vector component to set.
struct Command: Hashable {
    let payload: ByteBuffer
    var component: Int?

    /// The maximum length of numbers and words in bytes; texts and data may be longer.
    private static let longestText = 1024

    /// - Parameter current: the element's value, which supplies the other components.
    func value(of element: ElementDefinition, current: ElementValue?) throws(ElementalError) -> ElementValue {
        let value =
            if let component { try self.value(of: element, component, current) } else { try wholeValue(of: element) }
        guard element.allows(value) else {
            if let range = element.rangeText {
                throw ElementalError(.outOfRange, "the value is outside the range \(range)")
            }
            throw ElementalError(.outOfRange, "the value is not one of the element's choices")
        }
        return value
    }

    private func wholeValue(of element: ElementDefinition) throws(ElementalError) -> ElementValue {
        if element.type == .data { return .data(Data(payload.readableBytesView)) }
        let text =
            if element.type == .string, element.choices.isEmpty { try text(payload.readableBytesView) } else {
                try word(atMost: element.type == .string ? .max : Self.longestText)
            }
        do {
            return try ElementValue(text: element.type.floatCount == nil ? text : text.withoutBrackets, of: element)
        } catch {
            // Home Assistant converts units: 70 °F are 21.11111111111111 °C.
            if element.type.isInteger, let number = Int128(rounding: text),
                let value = try? ElementValue(text: String(number), type: element.type)
            {
                return value
            }
            throw ElementalError(.invalidValue, error.message)
        }
    }

    private func value(
        of element: ElementDefinition, _ component: Int, _ current: ElementValue?
    ) throws(ElementalError) -> ElementValue {
        guard let count = element.type.floatCount, component < count else {
            throw ElementalError(.invalidValue, "\(element.type) has no component \(component)")
        }
        let text = try word(atMost: Self.longestText)
        guard case .float(let number)? = try? ElementValue(text: text, type: .float) else {
            throw ElementalError(.invalidValue, "'\(text.excerpt)' is not a number")
        }
        guard case .floats(var numbers)? = current?.plainForm, numbers.count == count else {
            throw ElementalError(
                .invalidValue,
                "the other components are unknown: publish all \(count) of them at .../set, as in 0,0.5,1")
        }
        numbers[component] = number
        let whole = numbers.map { $0.description }.joined(separator: ",")
        do { return try ElementValue(text: whole, type: element.type) } catch {
            throw ElementalError(.invalidValue, error.message)
        }
    }

    /// Decodes a number or the name of a choice. Removes the line end that many programs send with a command's output.
    private func word(atMost limit: Int) throws(ElementalError) -> String {
        guard payload.readableBytes <= limit else {
            throw ElementalError(.invalidValue, "the payload of \(payload.readableBytes) bytes is too long")
        }
        return try text(payload.readableBytesView.withoutLineEnd)
    }

    private func text(_ bytes: ByteBufferView) throws(ElementalError) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ElementalError(.invalidValue, "the text is not valid UTF-8")
        }
        return text
    }
}

extension String {
    /// The text inside the brackets of a JSON array.
    fileprivate var withoutBrackets: String {
        let inner = drop { $0 == " " }
        guard inner.first == "[", let end = inner.lastIndex(of: "]") else { return self }
        return String(inner[inner.index(after: inner.startIndex)..<end])
    }
}

extension ElementValue {
    /// The value as a payload: numbers, texts and names of choices as text, `true` and `false`, vectors and matrices as
    /// JSON arrays, data unchanged.
    ///
    /// - Parameter isForHomeAssistant: whether numbers that are not finite become `None`, which means unknown in Home
    ///   Assistant. For `nan` it would log an exception per message and keep the previous value.
    func payload(of element: ElementDefinition, isForHomeAssistant: Bool) -> ByteBuffer {
        func text(_ number: some BinaryFloatingPoint & LosslessStringConvertible) -> String {
            isForHomeAssistant && !number.isFinite ? "None" : number.description
        }
        if case .data(let bytes) = self { return ByteBuffer(bytes: bytes) }
        if let choice = element.choice(self) { return ByteBuffer(string: choice.name) }
        switch plainForm {
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
}

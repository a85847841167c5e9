#if !hasFeature(Embedded)
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A `Codable` value carried as JSON text in an element of type ``ElementType/data``.
///
/// ```swift
/// static let pose = Element<JSON<Pose>>(7, "Pose")
/// try device.send(Pose(x: 1, y: 2), to: Robot.pose)
/// device.onValue(of: Robot.pose) { pose in print(pose.x) }
/// ```
/// A peer that does not know the Swift type sees the bytes of the JSON text.
public struct JSON<Value: Codable & Sendable>: Sendable {
    /// The decoded value.
    public let value: Value
    /// The JSON text, UTF-8.
    public let text: Data

    /// Encodes `value` at once, so that sending cannot fail later.
    ///
    /// - Throws: any error of the value's `encode(to:)` or of `JSONEncoder`.
    public init(_ value: Value) throws {
        self.value = value
        text = try JSONEncoder().encode(value)
    }
}

extension JSON: ElementRepresentable {
    public static var elementType: ElementType { .data }

    public init?(wireBytes bytes: UnsafeRawBufferPointer) {
        let text = Data(bytes)
        guard let value = try? JSONDecoder().decode(Value.self, from: text) else { return nil }
        self.value = value
        self.text = text
    }

    public var wireByteCount: Int { text.count }

    public func writeWireBytes(to destination: inout OutputRawSpan) { text.writeWireBytes(to: &destination) }

    public var elementValue: ElementValue { .data(text) }

    public init?(_ elementValue: ElementValue) {
        guard case .data(let text) = elementValue,
            let value = try? JSONDecoder().decode(Value.self, from: text)
        else { return nil }
        self.value = value
        self.text = text
    }
}
#endif

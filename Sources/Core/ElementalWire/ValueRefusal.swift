/// Why a service refused a value: a reason code, and a message for a person.
///
/// On the wire, as the system element -11: `element Int8 · reason UInt8 · message UTF-8`. A message
/// has at most 1,024 bytes.
public struct ValueRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of reason. A reader treats an unknown one as ``refused``.
    public enum Reason: UInt8, Sendable, Hashable, CaseIterable {
        /// The value is outside the element's range.
        case outOfRange = 1
        /// The value is none of the element's choices.
        case notAChoice = 2
        /// Clients cannot set the element.
        case notAllowed = 3
        /// The client's role does not permit it: see ``ElementDefinition/writers``.
        case notAuthorised = 4
        /// The service's program refused it. The message says why.
        case refused = 5
    }

    /// The kind of reason.
    public let reason: Reason
    /// A message for a person; empty if the reason is enough.
    public let message: String

    /// A refusal that the service's program decides on.
    ///
    /// - Parameter message: the reason, for the user who sent the value.
    public init(_ message: String) { self.init(.refused, message) }

    /// A refusal with this reason.
    public init(_ reason: Reason, _ message: String = "") {
        self.reason = reason
        self.message = message
    }

    /// The message, or what the reason means.
    public var description: String {
        if !message.isEmpty { return message }
        return switch reason {
        case .outOfRange: "the value is outside the element's range"
        case .notAChoice: "the value is not one of the element's choices"
        case .notAllowed: "clients cannot set the element"
        case .notAuthorised: "this client's role does not permit setting it"
        case .refused: "the service refused the value"
        }
    }

    /// Reads the value of the system element -11; `nil` if the bytes are not one. Invalid UTF-8 in a message is
    /// repaired.
    public static func read(_ bytes: UnsafeRawBufferPointer) -> (id: Int8, refusal: ValueRefusal)? {
        guard bytes.count >= 2, bytes[0] < 0x80 else { return nil }
        let message = String(decoding: bytes.dropFirst(2).prefix(SystemElement.maximumNameByteCount), as: UTF8.self)
        return (Int8(bytes[0]), ValueRefusal(Reason(rawValue: bytes[1]) ?? .refused, message))
    }

    /// The value of the system element -11 for an element. A longer message is truncated.
    public func wireBytes(id: Int8) -> [UInt8] {
        [UInt8(bitPattern: id), reason.rawValue] + message.utf8.prefix(SystemElement.maximumNameByteCount)
    }
}

/// Why a value was not sent.
public enum SendError: UInt8, Error, Sendable, Hashable {
    /// The service has no such element.
    case unknownElement
    /// The value is outside the element's range, is none of its choices, or its bytes are not of the element's type.
    case outOfRange
    /// The element is write-only: clients set its values and never receive them.
    case notAllowed
    /// A text or data is longer than ``ElementalService/Configuration/maximumTextByteCount``.
    case tooLong
    /// Earlier values fill the queue, because the line is slower than the program. The element keeps its earlier value.
    /// This never happens for an element marked `latest`.
    case queueFull
    /// The value's type is defined by the program and wrote fewer bytes than its `wireByteCount`.
    case wrongByteCount
}

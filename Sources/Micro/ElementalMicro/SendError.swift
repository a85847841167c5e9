/// Why a value was not sent.
public enum SendError: UInt8, Error, Sendable, Hashable {
    /// The service has no such element.
    case unknownElement
    /// The value is outside the element's range, or none of its choices.
    case outOfRange
    /// The element is write-only: the service takes its values and tells none.
    case notAllowed
    /// A text or data is longer than ``ElementalService/Configuration/maximumTextByteCount``.
    case tooLong
    /// The values before it fill the queue: the line is slower than the program. The element keeps its earlier value.
    /// Elements marked `latest` never meet this.
    case queueFull
    /// The value's type is the program's, and wrote fewer bytes than its `wireByteCount`.
    case wrongByteCount
}

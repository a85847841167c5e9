/// Why a value that was written into a model was put back.
public enum WriteFailure: Error, Sendable, CustomStringConvertible {
    /// The service refused it.
    case refused(ValueRefusal)
    /// It was not sent: it is outside the element's range, the element takes no values, or the connection has ended.
    case notSent(ElementalError)

    /// The reason, for a person.
    public var description: String {
        switch self {
        case .refused(let refusal): refusal.description.printable
        case .notSent(let error): error.message.printable
        }
    }
}

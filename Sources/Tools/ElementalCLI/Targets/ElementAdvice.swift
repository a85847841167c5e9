import Elemental

/// What a person can do where a service does not tell its elements, which depends on the command.
enum ElementAdvice: Sendable {
    /// The command takes `--element`.
    case option
    /// Other commands take it.
    case otherCommands
    /// The command measures a service that tells its elements.
    case benchService

    /// The error with the advice, if it is about a service's elements; otherwise the error itself.
    func explain(_ error: ElementalError) -> any Error {
        guard error.code == .catalogueUnavailable || error.code == .invalidCatalogue else { return error }
        let message =
            switch self {
            case .option: "\(error.message) with --element \(ElementSpec.form)"
            case .otherCommands: "\(error.message) with --element, which get, set, watch and connect take"
            case .benchService:
                "the target does not tell elements that can be used; measurements need a service that "
                    + "'elemental bench serve' publishes"
            }
        return CommandFailure(error.code.description, message)
    }
}

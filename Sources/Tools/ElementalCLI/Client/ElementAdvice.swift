import Elemental

/// What to suggest if a service does not send its catalogue, which depends on the command.
enum ElementAdvice: Sendable {
    /// The command takes `--element`.
    case option
    /// Other commands take it.
    case otherCommands
    /// The command measures a service that sends its catalogue.
    case benchService

    /// The error with a suggestion if it is about the catalogue; otherwise the error itself.
    func explain(_ error: ElementalError) -> any Error {
        guard error.code == .catalogueUnavailable || error.code == .invalidCatalogue else { return error }
        let message =
            switch self {
            case .option: "\(error.message) with --element \(ElementSpec.form)"
            case .otherCommands: "\(error.message) with --element, which get, set, watch and connect take"
            case .benchService:
                "the target sends no catalogue that can be used; measurements need a service started with "
                    + "'elemental bench serve'"
            }
        return CommandFailure(error.code.description, message)
    }
}

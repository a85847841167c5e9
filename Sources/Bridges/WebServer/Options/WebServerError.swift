/// Why a web server cannot run.
package struct WebServerError: Error, Equatable, CustomStringConvertible {
    package enum Code: Sendable, CaseIterable {
        /// Another program listens on the port.
        case portTaken
        case permissionDenied
        /// The address is not one of this machine's, or the name is not known.
        case addressUnavailable
        /// The certificate or its key cannot be used.
        case certificate
        /// The server was started before, or has been stopped.
        case stopped
        case other
    }

    package let code: Code
    /// What happened and what to do.
    package let message: String
    package var description: String { message }

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

internal import NIOCore

/// The reason why listening on a port failed, in words that a user can act on.
package struct ListeningFailure {
    package enum Kind: Sendable {
        /// Another program listens on the port.
        case taken
        case notPermitted
        /// The address does not belong to this machine, or the name is not known.
        case unknownAddress
        /// The number is outside 0...65535.
        case invalidPort
        case other
    }

    package let kind: Kind
    /// What happened and what to do.
    package let message: String

    /// - Parameters:
    ///   - place: the address and the port.
    ///   - port: the port alone.
    ///   - remedy: how to choose another port.
    package init(
        _ error: any Error, place: String, port: String, remedy: String = "choose another with --port"
    ) {
        switch (error, (error as? IOError)?.errnoCode) {
        case (let error as InvalidPort, _):
            kind = .invalidPort
            message = "cannot listen: \(error)"
        case (_, EADDRINUSE):
            kind = .taken
            message = "\(port) is in use; \(remedy)"
        case (_, EACCES), (_, EPERM):
            kind = .notPermitted
            message =
                "the system does not permit listening on \(place); ports below 1024 need special rights: \(remedy)"
        case (_, EADDRNOTAVAIL), (_, EAFNOSUPPORT):
            kind = .unknownAddress
            message = "cannot listen on \(place): this machine does not have that address; give one that it has"
        default:
            let failure = NetworkFailure(error)
            if case .unknownHost = failure.kind {
                kind = .unknownAddress
                message = "cannot listen on \(place): \(failure.reason); give an address of this machine"
            } else {
                kind = .other
                message = "cannot listen on \(place): \(failure.reason)"
            }
        }
    }
}

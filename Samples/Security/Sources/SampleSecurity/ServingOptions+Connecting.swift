public import Elemental

extension ServingOptions {
    /// Options for `connect` with the service's own identity, for a program that is service and client.
    public var connectOptions: ConnectOptions {
        get throws {
            guard security != .open else { return ConnectOptions(security: .open) }
            let state = try SecurityState(directory: state)
            return ConnectOptions(security: .automatic(identity: state.identity, store: state.trust))
        }
    }
}

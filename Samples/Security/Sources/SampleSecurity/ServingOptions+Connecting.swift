public import Elemental

extension ServingOptions {
    /// Options for `connect` with the service's own identity, for a program that is service and client.
    public var connectOptions: ConnectOptions {
        get throws {
            var options = ConnectOptions()
            guard security != .open else {
                options.security = .open
                return options
            }
            let state = try SecurityState(directory: state)
            options.security = .automatic(identity: state.identity, store: state.trust)
            return options
        }
    }
}

import TestSupport

/// The state directories of a ledger service and its client, paired by hand with each other's fingerprints.
struct PairedStates {
    let service: String
    let client: String

    static func with(_ body: (PairedStates) async throws -> Void) async throws {
        try await withFolder { folder in
            let states = PairedStates(service: folder + "/service", client: folder + "/client")
            func trust(_ state: String, _ arguments: String...) async throws -> String {
                try await ChildProcess.run(
                    BuiltProduct.path(of: "elemental"), ["trust"] + arguments + ["--state", state])
            }
            let client = try await trust(states.client)
            let service = try await trust(states.service)
            _ = try await trust(
                states.service, "add", client, "--name", "one", "--role", "control", "--service", "ledger")
            _ = try await trust(states.client, "add", service, "--name", "ledger/Rover")
            try await body(states)
        }
    }
}

import TestSupport
import Testing

/// A TARGET that names more than one service.
struct SeveralServicesTests {
    /// Runs a command until it has seen both services in time: on a busy machine the second one may be found too late.
    private func eventuallyIsAmbiguous(
        _ arguments: [String], _ avahi: PrivateAvahi, _ body: (ChildProcess) async throws -> Void
    ) async throws {
        try await eventually("\(arguments) sees both") {
            try await withCommand(arguments + ["--json"], environment: avahi.environment) { command in
                guard try await command.waitForExit() == .exited(1) else { return false }
                #expect(command.events("error").last?["code"] == "ambiguous", "\(command.transcript)")
                try await body(command)
                return true
            }
        }
    }

    @Test("watch shows the values of the first at once, and ends when there is another", .needsAvahi, .backstop)
    func watch() async throws {
        try await PrivateAvahi.with(hostName: "several") { avahi in
            let names = ["A", "B"]
            try await BrowseOnceTests.publish(names[...], avahi) {
                for limit in [["--for", "2"], ["--count", "1"]] {
                    // Both may be found before the first one is connected.
                    try await eventually("a value comes first") {
                        var hasValue = false
                        try await eventuallyIsAmbiguous(["watch", "robot"] + limit, avahi) {
                            hasValue = !$0.events("value").isEmpty
                        }
                        return hasValue
                    }
                }
                try await withCommand(["watch", "robot/B", "-n", "1"], environment: avahi.environment) {
                    try await $0.expectExit()
                }
            }
        }
    }

    @Test("other commands use none of them", .needsAvahi, .backstop)
    func others() async throws {
        try await PrivateAvahi.with(hostName: "several") { avahi in
            let names = ["A", "B"]
            try await BrowseOnceTests.publish(names[...], avahi) {
                for arguments in [["get", "robot"], ["set", "robot", "Speed=1"], ["describe", "robot"]] {
                    try await eventuallyIsAmbiguous(arguments, avahi) { #expect($0.events("value").isEmpty) }
                }
            }
        }
    }
}

import TestSupport
import Testing

/// A TARGET that names more than one service.
struct SeveralServicesTests {
    @Test("watch shows the values of the first at once, and ends when there is another", .needsAvahi)
    func watch() async throws {
        try await PrivateAvahi.with(hostName: "several") { avahi in
            let names = ["A", "B"]
            try await BrowseOnceTests.publish(names[...], avahi) {
                for arguments in [["watch", "robot"], ["watch", "robot", "--count", "1"]] {
                    try await withCommand(arguments + ["--json"], environment: avahi.environment) { watch in
                        try await watch.nextEvent("value")
                        let end = try await watch.nextEvent("error")
                        #expect(end["code"] == "ambiguous", "\(watch.transcript)")
                        try await watch.expectExit(1)
                    }
                }
                try await withCommand(["watch", "robot/B", "-n", "1"], environment: avahi.environment) {
                    try await $0.expectExit()
                }
            }
        }
    }

    @Test("other commands use none of them", .needsAvahi)
    func others() async throws {
        try await PrivateAvahi.with(hostName: "several") { avahi in
            let names = ["A", "B"]
            try await BrowseOnceTests.publish(names[...], avahi) {
                for arguments in [["get", "robot"], ["set", "robot", "Speed=1"], ["describe", "robot"]] {
                    try await withCommand(arguments + ["--json"], environment: avahi.environment) { command in
                        try await command.expectExit(1)
                        #expect(command.events("value").isEmpty)
                        #expect(command.events("error").last?["code"] == "ambiguous", "\(command.transcript)")
                    }
                }
            }
        }
    }
}

import Foundation
import TestSupport
import Testing

/// `elemental browse --once`.
struct BrowseOnceTests {
    @Test("it prints all that is there as a table, and ends", .needsAvahi)
    func table() async throws {
        try await PrivateAvahi.with(hostName: "once") { avahi in
            let names = ["A", "Rover", "日本", "A robot with a long name"]
            try await Self.publish(names[...], avahi) {
                try await withCommand(["browse", "--once"], environment: avahi.environment) { browse in
                    try await browse.expectExit()
                    let lines = browse.lines(of: .output)
                    #expect(lines.first?.hasPrefix("SERVICE  ") == true, "\(lines)")
                    #expect(
                        lines.dropFirst().map { $0.split(separator: "  ")[0] }.sorted()
                            == names.map { "robot/\($0)" }.sorted()[...].map { $0[...] })
                    // The second column begins at the same place of the terminal, where two of the letters are wide.
                    let places = lines.map { line in
                        let end = line.range(of: "  once.local")?.lowerBound ?? line.range(of: "  HOST")?.lowerBound
                        return line[..<(end ?? line.startIndex)].reduce(0) { $0 + ("日本".contains($1) ? 2 : 1) }
                    }
                    #expect(Set(places).count == 1, "\(lines)")
                }
                for service in [["robot"], []] {
                    let arguments = ["browse"] + service + ["--once", "--json"]
                    try await withCommand(arguments, environment: avahi.environment) { browse in
                        try await browse.expectExit()
                        let found = browse.events("found").compactMap { $0["instance"] as String? }
                        #expect(found.sorted() == names.sorted(), "\(browse.transcript)")
                    }
                }
            }
            try await withCommand(["browse", "nothing", "--once"], environment: avahi.environment) { browse in
                try await browse.expectExit()
                #expect(browse.lines(of: .output).isEmpty)
                #expect(browse.lines(of: .error) == ["no service was found"])
            }
        }
    }

    /// Runs a robot of each name.
    static func publish(
        _ names: ArraySlice<String>, _ avahi: PrivateAvahi, _ body: () async throws -> Void
    ) async throws {
        guard let name = names.first else { return try await body() }
        let arguments = ["publish", "robot", "--name", name, "--stay", "--json", "--element", "1:Speed:float=0"]
        try await withCommand(arguments, environment: avahi.environment) { service in
            try await service.nextEvent("published")
            try await publish(names.dropFirst(), avahi, body)
        }
    }

    @Test("without a daemon it is a failure at once")
    func noDaemon() async throws {
        let environment = ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent"]
        let arguments = ["browse", "--once", "--json", "--timeout", Patience.seconds]
        try await withCommand(arguments, environment: environment) { browse in
            try await browse.expectExit(1)
            #expect(browse.events("error").last?["code"] == "discoveryFailed", "\(browse.transcript)")
        }
    }

    @Test
    func onceAndForExcludeEachOther() throws { try Mistake.expect(in: ["browse", "--once", "--for", "1"], "not both") }
}

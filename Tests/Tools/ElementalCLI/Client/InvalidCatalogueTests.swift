import TestSupport
import Testing

/// Services that send an invalid catalogue.
struct InvalidCatalogueTests {
    private typealias Entry = ScriptedService.Entry

    private static let invalid: [(entries: [ScriptedService.Entry], words: [String])] = [
        ([Entry(id: 1, flags: 0b101100, numbers: [.nan])], ["Speed", "step"]),
        ([Entry(id: 1, flags: 0b101100)], ["Speed", "step", "missing"]),
        ([Entry(id: 1, flags: 0b011100, numbers: [1, 0])], ["Speed", "range", "missing or inverted"]),
        ([Entry(id: 1), Entry(id: 2)], ["share the name 'Speed'"]),
        ([Entry(id: 1), Entry(id: 1, name: Array("Other".utf8))], ["share the identifier 1"]),
        ([Entry(id: 1, name: [0x53, 0xFF])], ["not UTF-8"]), ([Entry(id: 200)], ["Speed", "identifier"]),
    ]

    @Test("a command that needs the catalogue fails at once and says what is wrong with it", arguments: 0..<7)
    func withoutElements(_ index: Int) async throws {
        let service = try ScriptedService()
        // A command that waited for its time-out would outlast the test's.
        try await withCommand(["describe", service.target, "--timeout", "600"]) { child in
            let socket = try await service.accept(Self.invalid[index].entries)
            // Without an answer to its end the client would wait for a second.
            _ = try await socket.readToEnd()
            socket.closeOutput()
            try await child.expectExit(1)
            let told = child.lines(of: .error).joined(separator: " ")
            for word in Self.invalid[index].words + ["the service's catalogue is invalid", "--element"] {
                #expect(told.contains(word), "\(told)")
            }
        }
    }

    @Test("a command that knows the elements works without the catalogue")
    func withElements() async throws {
        let service = try ScriptedService()
        let arguments = ["get", service.target, "Speed", "--element", "1:Speed:float", "--timeout", "600"]
        try await withCommand(arguments) { child in
            let socket = try await service.accept(Self.invalid[0].entries)
            try socket.write(ScriptedService.frame(1, [0, 0, 0, 0x3F]))
            try await child.expectExit()
            #expect(child.lines(of: .output) == ["Speed=0.5"])
            _ = socket
        }
    }

    @Test("the same with a service found by Zeroconf")
    func found() async throws {
        try await PrivateAvahi.with(hostName: "invalid") { avahi in
            let service = try ScriptedService()
            let port = try #require(service.target.split(separator: ":").last)
            let listing = ["-s", "Rover", "_lab._tcp", String(port), "elemental=1"]
            try await ChildProcess.with("avahi-publish", listing, environment: avahi.environment) { publisher in
                try await publisher.nextLine(of: .error) { $0.contains("Established") }
                for (options, expected) in [([], 1), (["--element", "1:Speed:float"], 0)] as [([String], Int32)] {
                    let arguments = ["get", "lab/Rover", "Speed", "--timeout", "600"] + options
                    try await withCommand(arguments, environment: avahi.environment) { child in
                        let socket = try await service.accept(Self.invalid[0].entries)
                        try? socket.write(ScriptedService.frame(1, [0, 0, 0, 0x3F]))
                        let status = try await child.waitForExit()
                        #expect(status == .exited(expected), "\(child.transcript)")
                        let told = child.lines(of: .error).joined(separator: " ")
                        #expect(told.contains("the service's catalogue is invalid") == (expected == 1), "\(told)")
                        _ = socket
                    }
                }
            }
        }
    }
}

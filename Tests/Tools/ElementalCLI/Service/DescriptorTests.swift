import TestSupport
import Testing

/// A service and its clients when its process may not open enough descriptors.
@Suite(.serialized)
struct DescriptorTests {
    /// The service's first frame to each client: its UDP identifier.
    private static let greeting = "ff01000000"

    /// Expects that a service that cannot accept does not try again all the time. In the gate that is `AcceptPauseTests`.
    private static func expectRest(_ figures: ProcessFigures, _ what: String) async throws {
        guard Depth.isAll else { return }
        let before = try figures.processorTime
        try await ChildProcess.run("sleep", ["2"])
        let share = (try figures.processorTime - before) / 2
        PeerCostTests.tell("\(what): \(Int(share * 100)) % of a processor")
        #expect(share < 0.3)
    }

    @Test("more connections than descriptors: new clients are told, and are served when there is room")
    func outOfDescriptors() async throws {
        try await PeerCostTests.publishing(before: "ulimit -n 100; ") { _, figures, port in
            try await Crowd.with(to: port) { crowd in
                _ = try await crowd.connect(150, saying: PeerCostTests.name)
                // One that says nothing: what it is told is not lost with what it has said.
                let told = try await crowd.connect(1, untilEnd: true).last
                #expect(told.contains("descriptors"), "\(told)")
                // The process can still open files and sockets of its own.
                try await eventually { try figures.descriptors <= 75 }
                try await Self.expectRest(figures, "150 connections where there are descriptors for fewer")
                try await crowd.leave()
            }
            try await PeerCostTests.expectServing(port)
        }
    }

    @Test("descriptors used elsewhere in the process: accepting pauses and resumes")
    func takenByOthers() async throws {
        // Only those below 100 are left for the service and its clients.
        let take = "ulimit -n 200; for i in {100..199}; do eval \"exec $i</dev/null\"; done; "
        try await PeerCostTests.publishing(before: take, shell: "bash") { _, figures, port in
            try await Crowd.with(to: port) { crowd in
                _ = try await crowd.connect(140 - (try figures.descriptors - 100), saying: PeerCostTests.name)
                try await eventually("all descriptors are taken") { try figures.descriptors == 200 }
                try await Self.expectRest(figures, "40 connections where others have taken the last descriptors")
                try await crowd.leave()
            }
            try await PeerCostTests.expectServing(port)
        }
    }

    @Test("1,024 devices with the usual soft limit of 1,024", .enabled(if: Crowd.limit >= 2400))
    func thousandDevices() async throws {
        try await PeerCostTests.publishing(["--no-udp"], before: "ulimit -S -n 1024; ") { service, figures, port in
            let listening = try #require(service.lines(of: .output).compactMap { JSONLine($0) }.first)
            #expect(listening.number("maximumDevices") == 1024)
            let before = try figures.residentMemory
            try await Crowd.with(to: port) { crowd in
                let devices = try await crowd.connect(
                    1024, perAddress: 205, saying: PeerCostTests.name + PeerCostTests.hello, reading: 6)
                #expect(devices.beginnings.count == 1024)
                #expect(devices.beginnings.allSatisfy { $0.hasPrefix(Self.greeting) })
                let (memory, count) = (try figures.residentMemory - before, try figures.descriptors)
                PeerCostTests.tell("1,024 devices that say nothing: \(memory) KiB of memory, \(count) descriptors")
                let refused = try RawSocket.connect(to: port, from: "127.0.0.9")
                let told = String(decoding: try await refused.readToEnd(), as: UTF8.self)
                #expect(told.contains("has reached its maximum of 1024 devices"), "\(told)")
            }
        }
    }

    @Test("a limit that allows fewer devices than configured is reported")
    func fewerDevices() async throws {
        try await PeerCostTests.publishing(before: "ulimit -n 128; ") { service, _, port in
            let listening = try #require(service.lines(of: .output).compactMap { JSONLine($0) }.first)
            let most = Int(try #require(listening.number("maximumDevices")))
            #expect((30..<120).contains(most))
            try await service.nextLine(of: .error, "a warning") { $0.contains("ulimit -n") && $0.contains("\(most)") }
            // That many are served.
            let devices = try (0..<most - 4).map { _ in try RawSocket.connect(to: port) }
            for device in devices { #expect(try await device.readFrame().id == -1) }
        }
    }

    @Test("rejected clients are told why and hold few descriptors", .enabled(if: Crowd.limit >= 2400))
    func refused() async throws {
        try await PeerCostTests.publishing { _, figures, port in
            let before = try figures.descriptors
            try await Crowd.with(to: port) { crowd in
                // Those that do not say their name in time for the handshake make room for the next ones.
                let devices = try await crowd.connect(256, saying: PeerCostTests.name, reading: 6)
                #expect(devices.beginnings.allSatisfy { $0.hasPrefix(Self.greeting) })
                let time = try figures.processorTime
                var most = 0
                for _ in 0..<50 {
                    _ = try await crowd.connect(20, saying: PeerCostTests.name)
                    most = max(most, try figures.descriptors)
                }
                let spent = try figures.processorTime - time
                PeerCostTests.tell(
                    "1,000 connections turned away: \(most - before - 256) descriptors, \(Int(spent * 1000)) µs each")
                #expect(most <= before + 256 + 16 + 4, "\(most) descriptors")
                let told = try await crowd.connect(1, untilEnd: true).last
                #expect(told.contains("256 connections from this address"), "\(told)")
                try await eventually { try figures.descriptors <= before + 256 }
            }
        }
    }

    @Test
    func tooFewDescriptorsAtTheStartAreAnErrorWithAdvice() async throws {
        let get = [try ElementalProcess.path, "get", "127.0.0.1:1", "Speed"]
        try await ChildProcess.with("sh", ["-c", "ulimit -n 8; exec \"$@\"", "sh"] + get) { child in
            try await child.expectExit(1)
            #expect(child.lines(of: .error).last?.contains("ulimit -n") == true, "\(child.transcript)")
        }
    }
}

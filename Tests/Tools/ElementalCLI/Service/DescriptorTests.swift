import Glibc
import TestSupport
import Testing

/// A service and its clients when its process may not open enough descriptors.
@Suite(.serialized)
struct DescriptorTests {
    /// Raises this process's limit of descriptors.
    ///
    /// - Returns: the new limit.
    private static func allowMany() -> Int {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = min(limit.rlim_max, 8192)
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return Int(limit.rlim_cur)
    }

    private static func isEnded(_ socket: RawSocket) async throws -> String {
        String(decoding: try await socket.readToEnd(), as: UTF8.self)
    }

    @Test("more connections than descriptors: no busy loop, new clients are told, and are served when there is room")
    func outOfDescriptors() async throws {
        try await PeerCostTests.publishing(before: "ulimit -n 100; ") { _, figures, port in
            var crowd = try (0..<150).map { _ in try RawSocket.connect(to: port) }
            for socket in crowd { try? socket.write(PeerCostTests.name) }
            let newcomer = try RawSocket.connect(to: port)
            let told = try await Self.isEnded(newcomer)
            #expect(told.contains("descriptors"), "\(told)")
            // The process can still open files and sockets of its own.
            try await eventually { try figures.descriptors <= 75 }

            let (time, start) = (try figures.processorTime, SuspendingClock.now)
            try await Task.sleep(for: .seconds(2), clock: .suspending)
            let share = (try figures.processorTime - time) / Double((SuspendingClock.now - start) / .seconds(1))
            PeerCostTests.tell(
                "150 connections where there are descriptors for fewer: \(Int(share * 100)) % of a processor")
            #expect(share < 0.3)

            crowd.removeAll()
            try await PeerCostTests.expectServing(port)
        }
    }

    @Test("descriptors used elsewhere in the process: accepting pauses and resumes")
    func takenByOthers() async throws {
        // Only those below 100 are left for the service and its clients.
        let take = "ulimit -n 200; for i in {100..199}; do eval \"exec $i</dev/null\"; done; "
        try await PeerCostTests.publishing(before: take, shell: "bash") { _, figures, port in
            let own = try figures.descriptors - 100
            var crowd = try (own..<140).map { _ in try RawSocket.connect(to: port) }
            for socket in crowd { try? socket.write(PeerCostTests.name) }
            let (time, start) = (try figures.processorTime, SuspendingClock.now)
            try await Task.sleep(for: .seconds(1), clock: .suspending)
            let share = (try figures.processorTime - time) / Double((SuspendingClock.now - start) / .seconds(1))
            #expect(share < 0.3)
            // On a busy machine the service has not accepted all that it can yet.
            try await eventually { try figures.descriptors == 200 }
            crowd.removeAll()
            try await PeerCostTests.expectServing(port)
            PeerCostTests.tell(
                "40 connections where others have taken the last descriptors: \(Int(share * 100)) % of a processor")
        }
    }

    @Test("1,024 devices with the usual soft limit of 1,024", .enabled(if: allowMany() >= 2400))
    func thousandDevices() async throws {
        let publish = [
            try ElementalProcess.path, "publish", "target", "--unlisted", "--address", "127.0.0.1", "--json",
            "--no-udp", "--element", "1:Level:int8=7",
        ]
        try await ChildProcess.with("sh", ["-c", "ulimit -S -n 1024; exec \"$@\"", "sh"] + publish) { service in
            let listening = try await service.nextEvent("listening")
            let port = Int(try #require(listening.number("port")))
            #expect(listening.number("maximumDevices") == 1024)
            let figures = ProcessFigures(of: service)
            let before = try figures.residentMemory
            var devices: [RawSocket] = []
            for index in 0..<1024 {
                let socket = try RawSocket.connect(to: port, from: "127.0.0.\(1 + index / 205)")
                try socket.write(PeerCostTests.name + PeerCostTests.hello)
                devices.append(socket)
            }
            for device in devices { #expect(try await device.readFrame().id == -1) }
            let (memory, count) = (try figures.residentMemory - before, try figures.descriptors)
            PeerCostTests.tell("1,024 devices that say nothing: \(memory) KiB of memory, \(count) descriptors")
            let refused = try RawSocket.connect(to: port, from: "127.0.0.9")
            let told = try await Self.isEnded(refused)
            #expect(told.contains("has its 1024 devices"), "\(told)")
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

    @Test("rejected clients hold few descriptors, and none for long", .enabled(if: allowMany() >= 2400))
    func refused() async throws {
        try await PeerCostTests.publishing { _, figures, port in
            let before = try figures.descriptors
            let devices = try (0..<256).map { _ in try RawSocket.connect(to: port) }
            // Who does not say its name within the time for a handshake makes room for one of the next.
            for device in devices { try device.write(PeerCostTests.name) }
            for device in devices { _ = try await device.readFrame() }
            let time = try figures.processorTime
            var most = 0
            var refused: [RawSocket] = []
            for index in 0..<1000 {
                let socket = try RawSocket.connect(to: port)
                try? socket.write(PeerCostTests.name)
                refused.append(socket)
                if index.isMultiple(of: 20) { most = max(most, try figures.descriptors) }
            }
            let told = try await Self.isEnded(try #require(refused.last))
            let spent = try figures.processorTime - time
            PeerCostTests.tell(
                "1,000 connections turned away: \(most - before - 256) descriptors, \(Int(spent * 1000)) µs each")
            #expect(most <= before + 256 + 16 + 4, "\(most) descriptors")
            #expect(told.isEmpty || told.contains("256 connections from this address"), "\(told)")
            try await eventually { try figures.descriptors <= before + 256 }
        }
    }
}

import TestSupport

/// A ledger service on host a and its clients on host b, and their accounts.
struct Ledgers {
    let bed: TestBed
    let service: ChildProcess
    let client: ChildProcess

    /// Starts both, runs the body once all devices are connected, and ends them in every case.
    ///
    /// A peer that is silent for `heartbeat` seconds is pinged, and times out after 4.5 of them. With `keys` all is sealed.
    static func with(
        devices: Int = 1, heartbeat: Double = 20, hasBadLink: Bool = false, keys: PairedStates? = nil,
        _ body: (Ledgers) async throws -> Void
    ) async throws {
        try await TestBed.with(hasBadLink: hasBadLink) { bed in
            try await withService(on: bed, heartbeat: heartbeat, state: keys?.service) { service in
                try await withClient(
                    on: bed, devices: devices, heartbeat: heartbeat, state: keys?.client
                ) { client in
                    for _ in 0..<devices { try await service.nextEvent("connected") }
                    // The service's answer may still be on its way.
                    try await client.nextEvent("ready")
                    try await body(Ledgers(bed: bed, service: service, client: client))
                }
            }
        }
    }

    /// Runs a service on host a.
    static func withService(
        on bed: TestBed, heartbeat: Double, state: String? = nil, _ body: (ChildProcess) async throws -> Void
    ) async throws {
        try await bed.a.withChild(
            BuiltProduct.path(of: "ledger"), ["serve", "Rover", "\(heartbeat)"], environment: environment(state)
        ) { service in
            try await service.nextEvent("published")
            try await body(service)
        }
    }

    /// Runs clients on host b.
    static func withClient(
        on bed: TestBed, _ prefix: String = "one", devices: Int, heartbeat: Double, state: String? = nil,
        _ body: (ChildProcess) async throws -> Void
    ) async throws {
        try await bed.b.withChild(
            BuiltProduct.path(of: "ledger"), ["client", "Rover", prefix, "\(devices)", "\(heartbeat)"],
            environment: environment(state), body)
    }

    private static func environment(_ state: String?) -> [String: String] { state.map { ["LEDGER_STATE": $0] } ?? [:] }
    func expectFlow() async throws { try await Self.expectFlow(service, [client]) }

    /// Waits until every device of the clients has new numbers over both transports in both directions.
    static func expectFlow(_ service: ChildProcess, _ clients: [ChildProcess]) async throws {
        func counts() async throws -> [Int] {
            let up = try await report(of: service)
            var counts: [Int] = []
            for client in clients {
                for (device, down) in try await report(of: client).sorted(by: { $0.key < $1.key }) {
                    for way in ["upReceived", "upDatagramReceived"] { counts.append(up[device]?.int(way) ?? 0) }
                    for way in ["downReceived", "downDatagramReceived"] { counts.append(down.int(way)) }
                }
            }
            return counts
        }
        let before = try await counts()
        try await eventually("values flow again") { try await zip(counts(), before).allSatisfy { $0 > $1 } }
    }

    func close() async throws -> [Account] {
        try await Self.accounts(of: service, clients: [client])
    }

    /// Stops sending, waits until everything in flight has arrived, and closes the accounts of all devices of the clients.
    static func accounts(of service: ChildProcess, clients: [ChildProcess]) async throws -> [Account] {
        for process in clients + [service] {
            try process.writeLine("stop")
            try await process.nextEvent("stopped")
        }
        let served = try await report(of: service)
        var accounts: [Account] = []
        for client in clients {
            for (name, line) in try await report(of: client) {
                guard let other = served[name] else { throw TestSupportError("the service knows no \(name)") }
                accounts.append(Account(name: name, service: other, client: line))
            }
        }
        return accounts
    }

    static func report(of process: ChildProcess) async throws -> [String: JSONLine] {
        let count = process.lines(of: .output).count
        try process.writeLine("report")
        try await process.nextEvent("reported")
        let lines = process.lines(of: .output)[count...].compactMap { JSONLine($0) }.filter { $0.event == "account" }
        return Dictionary(lines.map { ($0["device"] ?? "", $0) }) { $1 }
    }

    static func connected(of process: ChildProcess) async throws -> Int {
        try process.writeLine("count")
        return Int(try await process.nextEvent("count").number("connected") ?? -1)
    }
}

extension ChildProcess {
    /// Waits for that many of a ledger's intervals of 20 ms: the duration of a fault that does not stop this process.
    func pass(_ intervals: Int) async throws {
        try writeLine("pass \(intervals)")
        try await nextEvent("passed")
    }
}

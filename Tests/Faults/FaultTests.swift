import Foundation
import TestSupport
import Testing

/// How faults affect a service, a reconnecting client, and the values in flight. A fault lasts for so many of the intervals at
/// which the ledgers send; whatever follows is waited for.
@Suite(.serialized, .enabled(if: TestBed.isAvailable, Comment(rawValue: TestBed.unavailableReason ?? "")), .backstop)
struct FaultTests {
    enum Fault: String, CaseIterable, Sendable {
        case linkDown, addressChanged, serviceStopped

        func begin(_ ledgers: Ledgers) async throws {
            switch self {
            case .linkDown: try await ledgers.bed.cutLink()
            case .addressChanged: _ = try await ledgers.bed.replaceAddress(by: 77, of: ledgers.bed.a)
            case .serviceStopped: ledgers.service.send(signal: SIGSTOP)
            }
        }

        func end(_ ledgers: Ledgers) async throws {
            switch self {
            case .linkDown: try await ledgers.bed.restoreLink()
            case .addressChanged: break
            case .serviceStopped: ledgers.service.send(signal: SIGCONT)
            }
        }
    }

    @Test
    func withoutAFaultEverythingArrives() async throws {
        try await Ledgers.with(devices: 3) { ledgers in
            try await ledgers.expectFlow()
            let accounts = try await ledgers.close()
            #expect(accounts.count == 3)
            for account in accounts {
                account.expectUndisturbed()
                #expect(account.datagrams.lost == 0)
            }
        }
    }

    @Test(
        "a fault of 2 s is not noticed: TCP retransmits, and the two ends wait", .long,
        arguments: [Fault.linkDown, .serviceStopped])
    func aBriefFault(_ fault: Fault) async throws {
        try await Ledgers.with { ledgers in
            try await ledgers.expectFlow()
            try await fault.begin(ledgers)
            try await ledgers.client.pass(100)
            var watch = Stopwatch("\(fault.rawValue) for 2 s")
            try await fault.end(ledgers)
            watch.restart()
            try await ledgers.expectFlow()
            watch.note("values flow again both ways, over TCP and UDP,")
            for account in try await ledgers.close() { account.expectUndisturbed() }
        }
    }

    @Test("a fault lasts until the client has timed out: it connects again", .long, arguments: Fault.allCases)
    func aLongFault(_ fault: Fault) async throws {
        try await Ledgers.with(heartbeat: 0.5) { ledgers in
            try await ledgers.expectFlow()
            var watch = Stopwatch("\(fault.rawValue), heartbeat 0.5 s")
            try await fault.begin(ledgers)
            let loss = try await ledgers.client.nextEvent("lost")
            watch.note("the client says \"\(loss["reason"] ?? "")\"")
            if fault == .linkDown {
                let end = try await ledgers.service.nextEvent("disconnected")
                watch.note("the service says \"\(end["reason"] ?? "")\"")
            }
            try await fault.end(ledgers)
            watch.restart()
            try await ledgers.client.nextEvent("back", after: loss.place)
            watch.note("connected again")
            try await ledgers.expectFlow()
            for account in try await ledgers.close() {
                account.expectPromises()
                #expect(account.client.int("reconnections") == 1)
            }
        }
    }

    @Test("5 % of the packets lost, 20 ms of delay, a quarter out of order", .long)
    func aBadLink() async throws {
        try await Ledgers.with(devices: 3, hasBadLink: true) { ledgers in
            try await ledgers.bed.impair(loss: 0.05, delay: 0.02, hurry: 0.25)
            try await ledgers.client.pass(250)
            let accounts = try await ledgers.close()
            var (sent, lost) = (0, 0)
            for account in accounts {
                account.expectPromises(reorders: true)
                #expect(account.lostAtBreaks == (0, 0))
                sent += account.datagrams.sent
                lost += account.datagrams.lost
            }
            print("fault: a bad link: \(lost) of \(sent) datagrams lost")
            // What the link drops over UDP is lost, and is counted as lost.
            #expect(lost > 0)
        }
    }

    @Test("a link of 32 kbit/s is slower than the senders: TCP loses nothing", .long)
    func aNarrowLink() async throws {
        try await Ledgers.with(devices: 2, hasBadLink: true) { ledgers in
            try await ledgers.bed.impair(rate: 32_000)
            try await ledgers.client.pass(150)
            let (frames, lost) = try await ledgers.bed.impair()
            print("fault: a narrow link: \(lost) of \(frames) frames lost")
            #expect(lost > 0)
            for account in try await ledgers.close() {
                account.expectPromises()
                #expect(account.lostAtBreaks == (0, 0))
            }
        }
    }

    /// Each search is a connection to the host's D-Bus at least.
    @Test("the service is killed and started again: all devices of a process find it again with one search")
    func theServiceIsKilledAndStartedAgain() async throws {
        let devices = 20
        try await TestBed.with { bed in
            try await Ledgers.withService(on: bed, heartbeat: 20) { old in
                try await Ledgers.withClient(on: bed, devices: devices, heartbeat: 20) { client in
                    for _ in 0..<devices { try await old.nextEvent("connected") }
                    try await client.nextEvent("ready")
                    try await Ledgers.expectFlow(old, [client])
                    let before = try await bed.b.avahi.connections
                    var watch = Stopwatch("the service's process killed")
                    old.send(signal: SIGKILL)
                    for _ in 0..<devices { try await client.nextEvent("lost") }
                    watch.note("the client has noticed")
                    var most = 0
                    try await eventually("the search") {
                        most = try await bed.b.avahi.connections
                        return most > before
                    }
                    try await Ledgers.withService(on: bed, heartbeat: 20) { service in
                        watch.restart()
                        try await eventually("all are connected again") {
                            most = max(most, try await bed.b.avahi.connections)
                            return try await Ledgers.connected(of: client) == devices
                        }
                        watch.note("connected again, at another port,")
                        #expect(most < before + devices / 2, "\(before) connections to D-Bus before, \(most) at most")
                        for _ in 0..<devices { try await client.nextEvent("back") }
                        try await Ledgers.expectFlow(service, [client])
                        for account in try await Ledgers.accounts(of: service, clients: [client]) {
                            account.expectPromises()
                        }
                    }
                }
            }
        }
    }

    @Test
    func aClientIsKilled() async throws {
        try await Ledgers.with { ledgers in
            ledgers.client.send(signal: SIGKILL)
            let end = try await ledgers.service.nextEvent("disconnected")
            #expect(end["device"] == "one-1")
            let code: String = end["code"] ?? ""
            #expect(["closedByPeer", "networkError"].contains(code))
        }
    }

    @Test(
        "the avahi-daemons are killed and started again: connections do not notice, and the service is published anew",
        .long)
    func theDaemonsAreKilled() async throws {
        try await Ledgers.with { ledgers in
            try await ledgers.expectFlow()
            await ledgers.bed.a.avahi.kill()
            await ledgers.bed.b.avahi.kill()
            let loss = try await ledgers.service.nextEvent("other") { ($0["text"] ?? "").contains("not published") }
            try await ledgers.expectFlow()
            try await ledgers.bed.a.avahi.start()
            try await ledgers.bed.b.avahi.start()
            let watch = Stopwatch("the avahi-daemons killed and started again")
            try await ledgers.service.nextEvent("published", after: loss.place)
            watch.note("published again")
            for account in try await ledgers.close() { account.expectUndisturbed() }
        }
    }
}

extension PrivateAvahi {
    /// The number of connections to its D-Bus.
    fileprivate var connections: Int {
        get async throws {
            let names = try await ChildProcess.run(
                "dbus-send",
                ["--system", "--print-reply", "--dest=org.freedesktop.DBus", "/", "org.freedesktop.DBus.ListNames"],
                environment: environment)
            return names.split(separator: "\"").count { $0.hasPrefix(":") }
        }
    }
}

import Foundation
import TestSupport
import Testing

/// How faults affect a service, a reconnecting client, and the values in flight.
///
/// A fault's duration is part of the fault; whatever follows is waited for.
@Suite(.serialized, .enabled(if: TestBed.isAvailable, Comment(rawValue: TestBed.unavailableReason ?? "")))
struct FaultTests {
    /// Waits for the duration of a fault.
    private func last(_ time: Duration) async throws { try await Task.sleep(for: time, clock: .suspending) }

    /// Waits for numbers in both directions, so that there is traffic before and after a fault.
    private func exchange(_ ledgers: Ledgers) async throws { try await last(.milliseconds(300)) }

    @Test
    func withoutAFaultEverythingArrives() async throws {
        try await Ledgers.with(devices: 3) { ledgers in
            try await exchange(ledgers)
            let accounts = try await ledgers.close()
            #expect(accounts.count == 3)
            for account in accounts {
                account.expectPromises()
                #expect(account.lostAtBreaks == (0, 0))
                #expect(account.datagrams.lost == 0)
            }
        }
    }

    @Test("the link is down for 2 s: TCP retransmits, and no loss is visible")
    func linkDownBriefly() async throws {
        try await Ledgers.with { ledgers in
            try await exchange(ledgers)
            try await ledgers.bed.cutLink()
            try await last(.seconds(2))
            var watch = Stopwatch("link down for 2 s")
            try await ledgers.bed.restoreLink()
            watch.restart()
            try await ledgers.expectFlow()
            watch.note("values flow again both ways, over TCP and UDP,")
            let accounts = try await ledgers.close()
            for account in accounts {
                account.expectPromises()
                #expect(account.lostAtBreaks == (0, 0))
                #expect(account.client.int("reconnections") == 0)
            }
        }
    }

    @Test("the link is down until both ends have timed out; they reconnect when it is back")
    func linkDown() async throws {
        try await Ledgers.with(heartbeat: 0.5) { ledgers in
            try await exchange(ledgers)
            var watch = Stopwatch("link down, heartbeat 0.5 s")
            try await ledgers.bed.cutLink()
            let loss = try await ledgers.client.nextEvent("lost")
            watch.note("the client says \"\(loss["reason"] ?? "")\"")
            let end = try await ledgers.service.nextEvent("disconnected")
            watch.note("the service says \"\(end["reason"] ?? "")\"")
            try await ledgers.bed.restoreLink()
            watch.restart()
            try await ledgers.client.nextEvent("back")
            watch.note("connected again")
            try await ledgers.expectFlow()
            for account in try await ledgers.close() {
                account.expectPromises()
                #expect(account.client.int("reconnections") == 1)
            }
        }
    }

    @Test("fifty devices of one process are cut off at once: they share one search for their service")
    func fiftyDevicesAreCutOff() async throws {
        try await Ledgers.with(devices: 50, heartbeat: 1) { ledgers in
            let connected = try Holdings(of: ledgers.client.processID).descriptors
            try await ledgers.bed.cutLink()
            try await eventually("all have noticed") { try await Ledgers.connected(of: ledgers.client) == 0 }
            try await last(.seconds(1))
            let away = try Holdings(of: ledgers.client.processID).descriptors
            print("fault: \(connected) descriptors with 50 connections, \(away) without")
            #expect(away <= connected)
            try await ledgers.bed.restoreLink()
            for _ in 1...50 { try await ledgers.client.nextEvent("back") }
            try await ledgers.expectFlow()
            for account in try await ledgers.close() { account.expectPromises() }
        }
    }

    @Test
    func theServicesAddressChanges() async throws {
        try await Ledgers.with(heartbeat: 0.5) { ledgers in
            try await exchange(ledgers)
            var watch = Stopwatch("the service's address changed, heartbeat 0.5 s")
            _ = try await ledgers.bed.replaceAddress(by: 77, of: ledgers.bed.a)
            try await ledgers.client.nextEvent("lost")
            watch.note("noticed")
            watch.restart()
            try await ledgers.client.nextEvent("back")
            watch.note("connected again")
            try await ledgers.expectFlow()
            for account in try await ledgers.close() { account.expectPromises() }
        }
    }

    @Test("5 % of the packets lost, 20 ms of delay, a quarter out of order")
    func aBadLink() async throws {
        try await Ledgers.with(devices: 3, hasBadLink: true) { ledgers in
            try await ledgers.bed.impair(loss: 0.05, delay: 0.02, hurry: 0.25)
            try await last(.seconds(5))
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

    @Test("a link of 32 kbit/s is slower than the senders: TCP loses nothing")
    func aNarrowLink() async throws {
        try await Ledgers.with(devices: 2, hasBadLink: true) { ledgers in
            try await ledgers.bed.impair(rate: 32_000)
            try await last(.seconds(3))
            let (frames, lost) = try await ledgers.bed.impair()
            print("fault: a narrow link: \(lost) of \(frames) frames lost")
            #expect(lost > 0)
            for account in try await ledgers.close() {
                account.expectPromises()
                #expect(account.lostAtBreaks == (0, 0))
            }
        }
    }

    @Test
    func theServiceIsKilledAndStartedAgain() async throws {
        try await TestBed.with { bed in
            var old: ChildProcess?
            try await Ledgers.withService(on: bed, heartbeat: 20) { service in
                old = service
                try await Ledgers.withClient(on: bed, devices: 1, heartbeat: 20) { client in
                    try await service.nextEvent("connected")
                    try await last(.milliseconds(300))
                    var watch = Stopwatch("the service's process killed")
                    old?.send(signal: SIGKILL)
                    let loss = try await client.nextEvent("lost")
                    watch.note("the client says \"\(loss["reason"] ?? "")\"")
                    watch.restart()
                    try await Ledgers.withService(on: bed, heartbeat: 20) { service in
                        watch.note("a new process is published")
                        watch.restart()
                        try await client.nextEvent("back")
                        watch.note("connected again, at another port,")
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
            let watch = Stopwatch("the client's process killed")
            ledgers.client.send(signal: SIGKILL)
            let end = try await ledgers.service.nextEvent("disconnected")
            watch.note("the service says \"\(end["reason"] ?? "")\"")
            #expect(end["device"] == "one-1")
        }
    }

    @Test("the service's process is stopped for a second: its clients wait")
    func theServiceIsStoppedBriefly() async throws {
        try await Ledgers.with(heartbeat: 1) { ledgers in
            try await exchange(ledgers)
            ledgers.service.send(signal: SIGSTOP)
            try await last(.seconds(1))
            ledgers.service.send(signal: SIGCONT)
            try await exchange(ledgers)
            for account in try await ledgers.close() {
                account.expectPromises()
                #expect(account.lostAtBreaks == (0, 0))
                #expect(account.client.int("reconnections") == 0)
            }
        }
    }

    @Test("the service's process is stopped until it has timed out, and continues")
    func theServiceIsStopped() async throws {
        try await Ledgers.with(heartbeat: 0.5) { ledgers in
            try await exchange(ledgers)
            var watch = Stopwatch("the service's process stopped, heartbeat 0.5 s")
            ledgers.service.send(signal: SIGSTOP)
            let loss = try await ledgers.client.nextEvent("lost")
            watch.note("the client says \"\(loss["reason"] ?? "")\"")
            ledgers.service.send(signal: SIGCONT)
            watch.restart()
            try await ledgers.client.nextEvent("back")
            watch.note("connected again")
            try await ledgers.expectFlow()
            for account in try await ledgers.close() { account.expectPromises() }
        }
    }

    @Test(
        "the avahi-daemons are killed and started again: connections do not notice, and the service is published anew")
    func theDaemonsAreKilled() async throws {
        try await Ledgers.with { ledgers in
            try await exchange(ledgers)
            await ledgers.bed.a.avahi.kill()
            await ledgers.bed.b.avahi.kill()
            try await ledgers.service.nextEvent("other") { ($0["text"] ?? "").contains("not published") }
            try await exchange(ledgers)
            try await ledgers.bed.a.avahi.start()
            try await ledgers.bed.b.avahi.start()
            let watch = Stopwatch("the avahi-daemons killed and started again")
            try await ledgers.service.nextEvent("published")
            watch.note("published again")
            for account in try await ledgers.close() {
                account.expectPromises()
                #expect(account.lostAtBreaks == (0, 0))
                #expect(account.client.int("reconnections") == 0)
            }
        }
    }
}

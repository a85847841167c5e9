import TestSupport
import Testing

/// One host, child processes, and a private avahi-daemon that starts, stops, hangs and crashes.
@Suite(
    .serialized,
    .enabled(if: PrivateAvahi.unavailableReason == nil, Comment(rawValue: PrivateAvahi.unavailableReason ?? "")))
struct DaemonTests {
    @Test func anAbsentDaemonIsReportedWithAdviceAndRetried() async throws {
        let avahi = try PrivateAvahi(hostName: "late")
        do {
            try await probe(avahi, ["publish", "Rover", "_robot._tcp", "7000"]) { publisher in
                try await probe(avahi, ["browse", "_robot._tcp"]) { browser in
                    for child in [publisher, browser] {
                        let first = try await child.nextLine(beginningWith: "failed daemonUnavailable retry in 0.5")
                        #expect(first.text.contains("sudo systemctl start avahi-daemon"))
                        try await child.nextLine(
                            beginningWith: "failed daemonUnavailable retry in 1.0", after: first.place)
                    }
                    try await avahi.start()
                    try await publisher.nextLine(beginningWith: "published Rover")
                    try await browser.nextLine(beginningWith: "found Rover | late.local. | 7000 | 127.0.0.1")
                }
            }
        } catch {
            await avahi.remove()
            throw error
        }
        await avahi.remove()
    }

    @Test func aResolverSaysThatTheDaemonIsAbsent() async throws {
        let avahi = try PrivateAvahi(hostName: "never")
        try await probe(avahi, ["resolve", "Rover", "_robot._tcp", Patience.seconds]) { resolver in
            let line = try await resolver.nextLine(beginningWith: "error daemonUnavailable")
            #expect(line.text.contains("systemctl"))
        }
        await avahi.remove()
    }

    @Test(arguments: [false, true]) func aDaemonThatDiesIsSurvived(withItsBus: Bool) async throws {
        try await PrivateAvahi.with(hostName: "phoenix") { avahi in
            try await probe(avahi, ["publish", "Stays", "_robot._tcp", "7000"]) { publisher in
                try await probe(avahi, ["publish", "Goes", "_robot._tcp", "7001"]) { leaver in
                    try await publisher.nextLine(beginningWith: "published Stays")
                    try await leaver.nextLine(beginningWith: "published Goes")
                    try await probe(avahi, ["browse", "_robot._tcp"]) { browser in
                        try await browser.nextLine(beginningWith: "found ")
                        try await browser.nextLine(beginningWith: "found ")
                        if withItsBus { await avahi.killAll() } else { await avahi.kill() }
                        let loss = try await browser.nextLine(beginningWith: "failed daemonUnavailable")
                        let end = try await publisher.nextLine(beginningWith: "failed daemonUnavailable")
                        await leaver.end()
                        try await avahi.start()
                        try await publisher.nextLine(beginningWith: "published Stays", after: end.place)
                        try await browser.nextLine(beginningWith: "gone Goes", after: loss.place)
                        #expect(browser.lines(of: .output).count { $0.hasPrefix("found Stays") } == 1)
                        #expect(!browser.lines(of: .output).contains("gone Stays"))
                        // The new registration and the new browse work, too.
                        try publisher.writeLine("txt state=on")
                        try await browser.nextLine(where: { $0.hasPrefix("updated Stays") && $0.hasSuffix("state=on") })
                    }
                }
            }
        }
    }

    @Test func aHangingDaemonIsReportedAndRetried() async throws {
        try await PrivateAvahi.with(hostName: "sloth") { avahi in
            avahi.suspend(true)
            try await probe(avahi, ["publish", "Rover", "_robot._tcp", "7000"]) { publisher in
                try await probe(avahi, ["browse", "_robot._tcp"]) { browser in
                    let silence = try await publisher.nextLine(beginningWith: "failed timedOut")
                    let loss = try await browser.nextLine(beginningWith: "failed daemonUnavailable")
                    avahi.suspend(false)
                    try await publisher.nextLine(beginningWith: "published Rover", after: silence.place)
                    try await browser.nextLine(beginningWith: "found Rover", after: loss.place)
                    #expect(!publisher.lines(of: .output).contains { $0.hasPrefix("published Rover (") })
                }
            }
        }
    }

    @Test func aNameTakenOnThisHostGetsANumber() async throws {
        let long = String(repeating: "ä", count: 31)
        try await PrivateAvahi.with(hostName: "crowded") { avahi in
            for (name, second) in [("Rover", "Rover (2)"), (long, String(long.dropLast(2)) + " (2)")] {
                try await probe(avahi, ["publish", name, "_robot._tcp", "7000"]) { one in
                    try await one.nextLine(where: { $0 == "published \(name)" })
                    try await probe(avahi, ["publish", name, "_robot._tcp", "7001"]) { two in
                        try await two.nextLine(where: { $0 == "published \(second)" })
                        try await probe(avahi, ["browse", "_robot._tcp"]) { browser in
                            try await browser.nextLine(where: { $0.hasPrefix("found \(second) |") })
                        }
                    }
                }
            }
        }
    }

    @Test func whatIsStoppedIsWithdrawn() async throws {
        try await PrivateAvahi.with(hostName: "polite") { avahi in
            try await probe(avahi, ["browse", "_robot._tcp"]) { browser in
                try await probe(avahi, ["publish", "Rover", "_robot._tcp", "7000"]) { publisher in
                    try await browser.nextLine(beginningWith: "found Rover")
                    try publisher.writeLine("stop")
                    try await publisher.nextLine(beginningWith: "stopped")
                    try await browser.nextLine(beginningWith: "gone Rover")
                    #expect(publisher.isRunning)
                }
            }
        }
    }

    @Test func avahiToolsAndWeSeeEachOther() async throws {
        try await PrivateAvahi.with(hostName: "mixed") { avahi in
            try await probe(avahi, ["publish", "Ours", "_robot._tcp", "7000", "model=R2"]) { publisher in
                try await publisher.nextLine(beginningWith: "published Ours")
                let seen = try await ChildProcess.run(
                    "avahi-browse", ["--resolve", "--parsable", "--terminate", "_robot._tcp"],
                    environment: avahi.environment)
                #expect(seen.contains(";Ours;_robot._tcp;local;mixed.local;127.0.0.1;7000;\"model=R2\""), "\(seen)")
            }
            try await ChildProcess.with(
                "avahi-publish", ["-s", "Their one", "_screen_control._tcp", "7002", "kind=lamp", "x=1"],
                environment: avahi.environment
            ) { _ in
                try await probe(avahi, ["browse", "_screen_control._tcp"]) { browser in
                    let line = try await browser.nextLine(beginningWith: "found Their one | mixed.local. | 7002")
                    #expect(line.text.contains("kind=lamp") && line.text.contains("x=1"))
                }
                try await probe(avahi, ["resolve", "Their one", "_screen_control._tcp", Patience.seconds]) { resolver in
                    try await resolver.nextLine(beginningWith: "resolved Their one | mixed.local. | 7002 | 127.0.0.1")
                }
            }
            try await probe(avahi, ["resolve", "Nobody", "_robot._tcp", "1"]) { resolver in
                try await resolver.nextLine(beginningWith: "error timedOut")
            }
        }
    }

    /// Each reference is a thread and five descriptors: one to browse, and at most six to look up.
    @Test(arguments: [10, 40]) func aBrowsersThreadsDoNotGrowWithTheServices(_ count: Int) async throws {
        try await PrivateAvahi.with(hostName: "crowd") { avahi in
            try await probe(avahi, ["publish-many", "Rover", "_robot._tcp", "\(count)"]) { publisher in
                try await publisher.nextLine(where: { $0 == "published Rover \(count)" })
                try await probe(avahi, ["browse", "_robot._tcp"]) { browser in
                    for _ in 1...count { try await browser.nextLine(beginningWith: "found Rover") }
                    let figures = ProcessFigures(of: browser)
                    try await eventually("few threads and descriptors", every: .milliseconds(200)) {
                        try figures.threadCount <= 7 + 12 && figures.descriptors <= 7 * 5 + 15
                    }
                    // Those that are not watched all the time are looked at again for somebody who asks.
                    let place = browser.place()
                    try publisher.writeLine("state=on")
                    try await eventually("a change") {
                        browser.lines(of: .output).contains { $0.hasPrefix("updated") }
                    }
                    try browser.writeLine("again")
                    for number in 1...count {
                        try await browser.nextLine(after: place, within: Patience.wait * 3) {
                            $0.hasPrefix("updated Rover \(number) |") && $0.hasSuffix("state=on")
                        }
                    }
                    try await eventually("few threads and descriptors", every: .milliseconds(200)) {
                        try figures.threadCount <= 7 + 12 && figures.descriptors <= 7 * 5 + 15
                    }
                }
            }
        }
    }

    @Test func manyRoundsLeaveNothingOpen() async throws {
        try await PrivateAvahi.with(hostName: "tidy") { avahi in
            try await probe(avahi, ["churn", "_robot._tcp", "6"]) { child in
                func figures(_ beginning: String) async throws -> (descriptors: Int, threads: Int) {
                    let line = try await child.nextLine(beginningWith: beginning).text
                    let numbers = line.split(separator: " ").compactMap { Int($0) }
                    return (numbers[numbers.count - 2], numbers[numbers.count - 1])
                }
                let first = try await figures("round 0")
                _ = try await figures("round 6")
                // Each leaked reference would be a thread and a descriptor more. The last references end a little after
                // their owners, and Dispatch keeps idle workers for some seconds.
                try await eventually(
                    "as few descriptors and threads as after the first round\n\(child.transcript)",
                    every: .milliseconds(200)
                ) {
                    try child.writeLine("count")
                    let now = try await figures("now")
                    return now.descriptors <= first.descriptors && now.threads <= first.threads
                }
            }
        }
    }

    private func probe(
        _ avahi: PrivateAvahi, _ arguments: [String], _ body: (ChildProcess) async throws -> Void
    ) async throws {
        let executable = try BuiltProduct.path(of: "zeroconf-probe")
        try await ChildProcess.with(executable, arguments, environment: avahi.environment, body)
    }
}

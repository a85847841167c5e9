import Testing

@testable import Zeroconf

/// The browser's state machine without a daemon: the test simulates the library and the clock.
@Suite struct BrowserMachineTests {
    private let bench: Bench

    init() throws {
        bench = try Bench()
        bench.begin()
    }

    @Test func aServiceIsToldOnceHoweverOftenItIsListed() {
        for interface: UInt32 in [1, 1, 2, 2] { bench.list("Rover", interface) }
        #expect(bench.resolving == ["Rover"])
        bench.answer("Rover", host: "rover.local.", port: 7000)
        bench.address("rover.local.", [10, 0, 0, 1])
        #expect(bench.events.isEmpty)
        bench.runTimer(after: BrowserMachine.familyGrace)
        #expect(bench.takeEvents() == ["found Rover 7000 [10.0.0.1]"])
        for interface: UInt32 in [2, 1, 1] { bench.unlist("Rover", interface) }
        #expect(bench.events.isEmpty)
        bench.unlist("Rover", 2)
        #expect(bench.takeEvents() == ["gone Rover"])
        #expect(bench.open.count == 1)
    }

    @Test func aSurveyEndsWithTheFirstAnswersOnceTheyAreResolved() {
        bench.handle(.survey)
        bench.list("Rover", 1)
        bench.list("Ghost", 1)
        #expect(!bench.machine.isSurveyed)
        bench.runTimer(after: BrowserMachine.firstAnswerTime)
        #expect(!bench.machine.isSurveyed)
        bench.answer("Rover", host: "rover.local.", port: 7000)
        bench.address("rover.local.", [10, 0, 0, 1])
        bench.runTimer(after: BrowserMachine.familyGrace)
        #expect(!bench.machine.isSurveyed)
        bench.failLookup("Ghost")
        #expect(bench.machine.isSurveyed)
        #expect(bench.takeEvents() == ["found Rover 7000 [10.0.0.1]", "unresolved Ghost"])
        // A daemon that has gone knows nothing any more.
        bench.failBrowsing()
        #expect(!bench.machine.isSurveyed)
        bench.runTimer(after: .milliseconds(500))
        bench.opened()
        bench.runTimer(after: BrowserMachine.firstAnswerTime)
        #expect(bench.machine.isSurveyed)
    }

    @Test func changesAreToldAndRepetitionsAreNot() throws {
        bench.find("Rover", host: "rover.local.", port: 7000, [10, 0, 0, 1])
        bench.answer("Rover", host: "rover.local.", port: 7000)
        #expect(bench.events.isEmpty)
        bench.answer("Rover", host: "rover.local.", port: 7001)
        bench.address("rover.local.", [10, 0, 0, 9])
        #expect(bench.takeEvents() == ["updated Rover 7001 [10.0.0.1]", "updated Rover 7001 [10.0.0.1, 10.0.0.9]"])
    }

    /// A settled list waits for the daemon alone: the machine's inputs are the daemon's answers and its own timers.
    /// As long as there are places for all.
    @Test func anIdleBrowserHasNoTimer() {
        bench.find("Rover 1", host: "rover1.local.", port: 7000, [10, 0, 0, 1])
        for name in ["Rover 2", "Rover 3", "Rover 4"] {
            bench.list(name, 1)
            bench.answer(name, host: "rover1.local.", port: 7000)
            #expect(bench.takeEvents() == ["found \(name) 7000 [10.0.0.1]"])
        }
        #expect(Array(bench.timers.values) == [BrowserMachine.settlingTime])
        bench.runTimer(after: BrowserMachine.settlingTime)
        #expect(bench.timers.isEmpty && bench.events.isEmpty)
        // A failure, a retry and a service that has gone leave none either.
        bench.failBrowsing()
        #expect(bench.takeEvents() == ["failed daemonUnavailable"])
        bench.runTimer(after: .milliseconds(500))
        bench.opened()
        bench.find("Rover 1", host: "rover1.local.", port: 7000, [10, 0, 0, 1], isTold: false)
        bench.runTimer(after: BrowserMachine.settlingTime)
        bench.unlist("Rover 1", 1)
        #expect(bench.timers.isEmpty && bench.open.count == 1)
        // As soon as some of many are gone, there is none either.
        for number in 1...12 { bench.list("Rover \(number)", 1) }
        bench.answerAll { _ in "rover.local." }
        #expect(Array(bench.timers.values) == [BrowserMachine.shortestTurn])
        for number in 1...8 { bench.unlist("Rover \(number)", 1) }
        bench.answerAll { _ in "rover.local." }
        #expect(bench.timers.isEmpty && bench.open.count == 1 + 4 + 2)
    }

    /// More than there are places for: all have their turn within the time that is promised.
    @Test(arguments: [10, 40]) func changesOfManyServicesAreToldInTime(_ count: Int) {
        for number in 1...count { bench.list("Rover \(number)", 1) }
        bench.answerAll { "\($0).local." }
        #expect(bench.takeEvents().count == count && bench.open.count <= 1 + BrowserMachine.maximumReferenceCount)
        // What is as it was is not told again.
        for _ in 1...2 * count { bench.takeTurn { "\($0).local." } }
        #expect(bench.events.isEmpty)
        var time = Duration.zero
        var unchanged = Set((1...count).flatMap { ["Rover \($0) port", "Rover \($0) address"] })
        while !unchanged.isEmpty, time < .seconds(1000) {
            time += bench.takeTurn(port: 2, ipv4: 2) { "\($0).local." }
            for event in bench.takeEvents() {
                let name = event.split(separator: " ")[1...2].joined(separator: " ")
                if event.contains(" 2 [") { unchanged.remove(name + " port") }
                if event.contains("10.0.0.2") { unchanged.remove(name + " address") }
            }
            #expect(bench.open.count <= 1 + BrowserMachine.maximumReferenceCount)
        }
        #expect(time <= .seconds(60 + max(0, 2 * count - 30)))
    }

    @Test func newServicesAndSubscribersDoNotWaitForATurn() {
        let names = Set((1...20).map { "Rover \($0)" })
        names.forEach { bench.list($0, 1) }
        bench.answerAll { _ in "rover.local." }
        bench.list("New", 1)
        #expect(bench.resolving.contains("New"))
        bench.answerAll { _ in "rover.local." }
        #expect(bench.takeEvents().count == 21)
        let unwatched = names.subtracting(bench.resolving)
        #expect(unwatched.count >= 12)
        bench.handle(.start)
        bench.answerAll(port: 2) { _ in "rover.local." }
        let events = bench.takeEvents()
        for name in unwatched { #expect(events.contains { $0.hasPrefix("updated \(name) 2 [") }) }
    }

    /// Looking them up takes seconds, again and again.
    @Test func servicesThatDoNotAnswerLeavePlacesToOthers() {
        let ghosts = (1...20).map { "Ghost \($0)" }
        ghosts.forEach { bench.list($0, 1) }
        ghosts.forEach { bench.failLookup($0) }
        ghosts.forEach { _ in bench.runTimer(after: .milliseconds(500)) }
        #expect(bench.resolving.count == BrowserMachine.maximumRetryCount)
        bench.list("Rover", 1)
        #expect(bench.resolving.contains("Rover"))
    }

    @Test func afterARestartTheListIsReconciled() throws {
        bench.find("Stays", host: "a.local.", port: 1, [10, 0, 0, 1])
        bench.find("Goes", host: "b.local.", port: 2, [10, 0, 0, 2])
        bench.find("Moves", host: "c.local.", port: 3, [10, 0, 0, 3])
        bench.failBrowsing()
        #expect(bench.takeEvents() == ["failed daemonUnavailable"])
        #expect(bench.open.isEmpty)
        bench.runTimer(after: .milliseconds(500))
        bench.opened()
        bench.find("Stays", host: "a.local.", port: 1, [10, 0, 0, 1], isTold: false)
        bench.list("Moves", 1)
        bench.answer("Moves", host: "c.local.", port: 33)
        bench.address("c.local.", [10, 0, 0, 3])
        bench.runTimer(after: BrowserMachine.familyGrace)
        #expect(bench.takeEvents() == ["updated Moves 33 [10.0.0.3]"])
        bench.runTimer(after: BrowserMachine.settlingTime)
        #expect(bench.takeEvents() == ["gone Goes"])
    }

    @Test func theDelayGrowsUntilTheListHasSettled() {
        for delay in [0.5, 1, 2, 4, 8, 16, 30, 30] {
            bench.failBrowsing()
            bench.runTimer(after: .seconds(delay))
            bench.opened()
        }
        bench.runTimer(after: BrowserMachine.settlingTime)
        bench.failBrowsing()
        bench.runTimer(after: .milliseconds(500))
    }

    @Test func aNewSubscriberTriggersTheNextAttempts() {
        for delay in [0.5, 1, 2, 4, 8] {
            bench.failBrowsing()
            bench.runTimer(after: .seconds(delay))
        }
        bench.failBrowsing()
        #expect(bench.open.isEmpty)
        bench.handle(.start)
        bench.opened()
        bench.list("Ghost", 1)
        bench.failLookup("Ghost")
        #expect(bench.resolving.isEmpty)
        bench.handle(.start)
        #expect(bench.resolving == ["Ghost"])
        // Where nothing waits, nothing changes.
        bench.handle(.start)
        #expect(bench.open.count == 2)
    }

    @Test func unresolvedServicesAreReportedAndRetried() throws {
        bench.list("Ghost", 1)
        bench.failLookup("Ghost")
        bench.runTimer(after: .milliseconds(500))
        bench.answer("Ghost", host: "ghost.local.", port: 1)
        // No address ever comes.
        bench.runTimer(after: .seconds(5))
        bench.unlist("Ghost", 1)
        #expect(bench.takeEvents() == ["unresolved Ghost", "unresolved Ghost", "gone Ghost"])
        #expect(bench.open.count == 1)
    }

    @Test func lookupsAndWatchesAreLimited() throws {
        let names = (0..<100).map { "Service \($0)" }
        names.forEach { bench.list($0, 1) }
        #expect(bench.resolving.count == BrowserMachine.maximumReferenceCount)
        bench.answerAll(host: { "\($0).local." })
        #expect(bench.takeEvents().count == 100)
        #expect(bench.open.count <= 1 + BrowserMachine.maximumReferenceCount)
        names.forEach { bench.unlist($0, 1) }
        #expect(bench.takeEvents().count == 100)
        #expect(bench.open.count == 1)
    }

    @Test func servicesOfOneHostShareItsQueries() throws {
        bench.find("One", host: "a.local.", port: 1, [10, 0, 0, 1])
        bench.list("Two", 1)
        bench.answer("Two", host: "a.local.", port: 2)
        #expect(bench.takeEvents() == ["found Two 2 [10.0.0.1]"])
        #expect(bench.open.count == 1 + 2 + 2)
        bench.unlist("One", 1)
        #expect(bench.open.count == 1 + 1 + 2)
    }

    @Test func aFloodOfServicesIsCutOff() {
        for number in 0..<5000 { bench.list("\(number)", 1) }
        #expect(bench.machine.entries.count == BrowserMachine.maximumEntryCount)
    }

    @Test func stoppingClosesAllAndForgetsAll() throws {
        bench.find("Rover", host: "a.local.", port: 1, [10, 0, 0, 1])
        bench.list("Other", 1)
        bench.handle(.stop)
        #expect(bench.open.isEmpty && bench.timers.isEmpty && bench.machine.replay().isEmpty)
        bench.begin()
        bench.find("Rover", host: "a.local.", port: 1, [10, 0, 0, 1])
    }
}

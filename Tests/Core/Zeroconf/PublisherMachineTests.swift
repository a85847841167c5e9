import Testing

@testable import Zeroconf

/// The publisher's state machine without a daemon.
@Suite struct PublisherMachineTests {
    @Test func aTakenNameIsNumberedAndKeptAfterAFailure() throws {
        let bench = PublisherBench()
        bench.handle(.start)
        #expect(bench.name == "Rover")
        bench.event(.openingFailed(.nameConflict))
        #expect(bench.name == "Rover (2)")
        // The callback can report it, too.
        bench.event(.failed(.nameConflict))
        #expect(bench.name == "Rover (3)")
        bench.event(.reply(.registered(name: "Rover (3)")))
        #expect(bench.takeEvents() == ["published Rover (3)"])
        bench.event(.reply(.registered(name: "Rover (3)")))
        bench.event(.reply(.registered(name: "Rover (3) #2")))
        #expect(bench.takeEvents() == ["renamed Rover (3) Rover (3) #2"])
        bench.event(.failed(DNSServiceError(rawValue: -65537)))
        #expect(bench.takeEvents() == ["failed daemonUnavailable"])
        #expect(bench.open.isEmpty)
        bench.runTimer(after: .milliseconds(500))
        #expect(bench.name == "Rover (3) #2")
    }

    @Test func silenceIsAFailure() throws {
        let bench = PublisherBench()
        bench.handle(.start)
        bench.event(.opened)
        bench.runTimer(after: .seconds(10))
        #expect(bench.takeEvents() == ["failed timedOut"])
        #expect(bench.open.isEmpty)
        bench.runTimer(after: .milliseconds(500))
        #expect(bench.name == "Rover")
    }

    @Test func aHundredTakenNamesAreEnough() throws {
        let bench = PublisherBench()
        bench.handle(.start)
        for _ in 0..<100 { bench.event(.openingFailed(.nameConflict)) }
        #expect(bench.takeEvents() == ["failed nameConflict"])
        #expect(bench.open.isEmpty)
    }

    @Test func aNewRecordIsUsedNowAndLater() throws {
        let bench = PublisherBench()
        bench.handle(.update(["a": "1"]))
        bench.handle(.start)
        #expect(bench.txt == Array("\u{3}a=1".utf8))
        bench.handle(.update(["a": "2"]))
        #expect(bench.updates == [Array("\u{3}a=2".utf8)])
        bench.event(.failed(DNSServiceError(rawValue: -65537)))
        bench.runTimer(after: .milliseconds(500))
        #expect(bench.txt == Array("\u{3}a=2".utf8))
    }

    @Test func stoppingClosesAll() throws {
        let bench = PublisherBench()
        bench.handle(.start)
        bench.handle(.stop)
        #expect(bench.open.isEmpty && bench.timers.isEmpty)
    }
}

private final class PublisherBench {
    var machine: PublisherMachine
    var open: [ReferenceID: ServiceRequest] = [:]
    var timers: [TimerID: Duration] = [:]
    var updates: [[UInt8]] = []
    var events: [String] = []

    init() {
        machine = PublisherMachine(name: "Rover", type: (try? .tcp("robot")) ?? Self.noType, port: 7000, txt: [0])
    }

    private static var noType: ServiceType { fatalError("robot is a type") }

    var name: String? {
        if case .register(let name, _, _, _, _) = open.values.first { name } else { nil }
    }

    var txt: [UInt8]? {
        if case .register(_, _, _, let txt, _) = open.values.first { txt } else { nil }
    }

    func handle(_ input: MachineInput) {
        for action in machine.handle(input) {
            switch action {
            case .open(let id, let request): open[id] = request
            case .close(let id): #expect(open.removeValue(forKey: id) != nil)
            case .updateTXT(_, let bytes): updates.append(bytes)
            case .startTimer(let id, let delay): timers[id] = delay
            case .cancelTimer(let id): timers[id] = nil
            case .emit(.published(let name)): events.append("published \(name)")
            case .emit(.renamed(let old, let new)): events.append("renamed \(old) \(new)")
            case .emit(.failed(let error, _)): events.append("failed \(error.code)")
            case .log: break
            }
        }
        #expect(open.count <= 1)
    }

    func event(_ event: ReferenceEvent) {
        if let id = open.keys.first { handle(.reference(id, event)) }
    }

    func runTimer(after delay: Duration) {
        guard let id = timers.first(where: { $0.value == delay })?.key else {
            Issue.record("no timer of \(delay)")
            return
        }
        timers[id] = nil
        handle(.timer(id))
    }

    func takeEvents() -> [String] {
        defer { events = [] }
        return events
    }
}

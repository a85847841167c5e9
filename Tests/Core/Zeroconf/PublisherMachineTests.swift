import Testing

@testable import Zeroconf

/// The publisher's state machine without a daemon.
@Suite struct PublisherMachineTests {
    private let bench = PublisherBench()

    @Test func aTakenNameIsNumberedAndKeptAfterAFailure() throws {
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
        bench.event(.failed(.daemonHasGone))
        #expect(bench.takeEvents() == ["failed daemonUnavailable"])
        #expect(bench.open.isEmpty)
        bench.runTimer(after: .milliseconds(500))
        #expect(bench.name == "Rover (3) #2")
    }

    @Test func silenceIsAFailure() throws {
        bench.handle(.start)
        bench.event(.opened)
        bench.runTimer(after: .seconds(10))
        #expect(bench.takeEvents() == ["failed timedOut"])
        #expect(bench.open.isEmpty)
        bench.runTimer(after: .milliseconds(500))
        #expect(bench.name == "Rover")
    }

    @Test func aHundredTakenNamesAreEnough() throws {
        bench.handle(.start)
        for _ in 0..<100 { bench.event(.openingFailed(.nameConflict)) }
        #expect(bench.takeEvents() == ["failed nameConflict"])
        #expect(bench.open.isEmpty)
    }

    @Test func aNewRecordIsUsedNowAndLater() throws {
        bench.handle(.update(["a": "1"]))
        bench.handle(.start)
        #expect(bench.txt == Array("\u{3}a=1".utf8))
        bench.handle(.update(["a": "2"]))
        #expect(bench.updates == [Array("\u{3}a=2".utf8)])
        bench.event(.failed(.daemonHasGone))
        bench.runTimer(after: .milliseconds(500))
        #expect(bench.txt == Array("\u{3}a=2".utf8))
    }

    @Test func stoppingClosesAll() throws {
        bench.handle(.start)
        bench.handle(.stop)
        #expect(bench.open.isEmpty && bench.timers.isEmpty)
    }
}

private final class PublisherBench: MachineBench<PublisherMachine> {
    init() {
        let type = (try? ServiceType.tcp("robot")) ?? Self.noType
        super.init(PublisherMachine(name: "Rover", type: type, port: 7000, txt: [0])) { event in
            switch event {
            case .published(let name): "published \(name)"
            case .renamed(let old, let new): "renamed \(old) \(new)"
            case .failed(let error, _): "failed \(error.code)"
            }
        }
    }

    private static var noType: ServiceType { fatalError("robot is a type") }

    var name: String? {
        if case .register(let name, _, _, _, _) = open.values.first { name } else { nil }
    }

    var txt: [UInt8]? {
        if case .register(_, _, _, let txt, _) = open.values.first { txt } else { nil }
    }

    override func handle(_ input: MachineInput) {
        super.handle(input)
        #expect(open.count <= 1)
    }

    /// What happens to the only reference.
    func event(_ event: ReferenceEvent) { tell(event) { _ in true } }
}

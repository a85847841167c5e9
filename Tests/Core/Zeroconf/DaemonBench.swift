import Testing

@testable import Zeroconf

/// Simulates the library and the clock for a machine.
class MachineBench<Machine: ServiceMachine> {
    var machine: Machine
    private(set) var open: [ReferenceID: ServiceRequest] = [:]
    private(set) var timers: [TimerID: Duration] = [:]
    private(set) var updates: [[UInt8]] = []
    private(set) var events: [String] = []
    private let describe: (Machine.Event) -> String

    init(_ machine: Machine, _ describe: @escaping (Machine.Event) -> String) {
        self.machine = machine
        self.describe = describe
    }

    func handle(_ input: MachineInput) {
        for action in machine.handle(input) {
            switch action {
            case .open(let id, let request): #expect(open.updateValue(request, forKey: id) == nil)
            case .close(let id): #expect(open.removeValue(forKey: id) != nil, "closed twice, or never opened")
            case .startTimer(let id, let delay): timers[id] = delay
            case .cancelTimer(let id): timers[id] = nil
            case .emit(let event): events.append(describe(event))
            case .updateTXT(_, let bytes): updates.append(bytes)
            case .log: break
            }
        }
    }

    func takeEvents() -> [String] {
        defer { events = [] }
        return events
    }

    /// What happens to the reference that was opened for such a request.
    func tell(_ event: ReferenceEvent, _ isAbout: (ServiceRequest) -> Bool) {
        guard let id = open.first(where: { isAbout($0.value) })?.key else {
            Issue.record("nobody waits for \(event)")
            return
        }
        handle(.reference(id, event))
    }

    /// Fires the only timer of this length.
    func runTimer(after delay: Duration) {
        guard let id = timers.first(where: { $0.value == delay })?.key else {
            Issue.record("no timer of \(delay) among \(timers.values)")
            return
        }
        run(id)
    }

    func run(_ timer: TimerID) {
        timers[timer] = nil
        handle(.timer(timer))
    }
}

extension ServiceRequest {
    var isBrowse: Bool { if case .browse = self { true } else { false } }

    /// The name being resolved or watched.
    var resolvedName: String? { if case .resolve(let instance) = self { instance.name } else { nil } }

    func asks(for family: NetworkAddress.Family, of wanted: String) -> Bool {
        if case .addresses(wanted, family) = self { true } else { false }
    }
}

extension DNSServiceError {
    static let daemonHasGone = DNSServiceError(rawValue: -65537)
}

final class Bench: MachineBench<BrowserMachine> {
    init() throws {
        super.init(BrowserMachine(type: try .tcp("robot"))) { event in
            switch event {
            case .found(let service): "found \(service.instance.name) \(service.port) \(service.addresses)"
            case .updated(let service): "updated \(service.instance.name) \(service.port) \(service.addresses)"
            case .gone(let instance): "gone \(instance.name)"
            case .unresolved(let instance, _): "unresolved \(instance.name)"
            case .failed(let error, _): "failed \(error.code)"
            }
        }
    }

    var resolving: Set<String> { Set(open.values.compactMap(\.resolvedName)) }

    func begin() {
        handle(.start)
        opened()
    }

    func opened() { tell(.opened, \.isBrowse) }

    func list(_ name: String, _ interface: UInt32) { browsed(name, interface, isAdded: true) }

    func unlist(_ name: String, _ interface: UInt32) { browsed(name, interface, isAdded: false) }

    func answer(_ name: String, host: String, port: Int) {
        tell(.reply(.resolved(interface: 1, host: host, port: port, txt: [0]))) { $0.resolvedName == name }
    }

    func address(_ host: String, _ bytes: [UInt8]) {
        tell(.reply(.record(isAdded: true, interface: 1, data: bytes))) { $0.asks(for: .ipv4, of: host) }
    }

    func find(_ name: String, host: String, port: Int, _ bytes: [UInt8], isTold: Bool = true) {
        list(name, 1)
        answer(name, host: host, port: port)
        address(host, bytes)
        runTimer(after: BrowserMachine.familyGrace)
        let address = bytes.map(String.init).joined(separator: ".")
        #expect(takeEvents() == (isTold ? ["found \(name) \(port) [\(address)]"] : []))
    }

    /// Answers all requests until there are none left.
    func answerAll(port: Int = 1, ipv4: UInt8 = 1, host: (String) -> String) {
        var answered: Set<ReferenceID> = []
        while let (id, request) = open.first(where: { !answered.contains($0.key) }) {
            answered.insert(id)
            switch request {
            case .resolve(let instance):
                answer(instance.name, host: host(instance.name), port: port)
            case .addresses(_, let family):
                let bytes: [UInt8] = family == .ipv4 ? [10, 0, 0, ipv4] : [0xFD] + Array(repeating: 0, count: 15)
                handle(.reference(id, .reply(.record(isAdded: true, interface: 1, data: bytes))))
            case .browse, .register:
                break
            }
        }
    }

    /// Gives the next one that has no place its turn, and answers all.
    ///
    /// - Returns: how long it waited for its turn.
    @discardableResult
    func takeTurn(port: Int = 1, ipv4: UInt8 = 1, host: (String) -> String) -> Duration {
        guard let turn = machine.turn, let delay = timers[turn] else {
            Issue.record("nobody has a turn")
            return .seconds(1000)
        }
        run(turn)
        answerAll(port: port, ipv4: ipv4, host: host)
        while let grace = timers.first(where: { $0.value == BrowserMachine.repeatedGrace })?.key { run(grace) }
        return delay
    }

    func failLookup(_ name: String) { tell(.failed(.daemonHasGone)) { $0.resolvedName == name } }

    func failBrowsing() { tell(.failed(.daemonHasGone), \.isBrowse) }

    private func browsed(_ name: String, _ interface: UInt32, isAdded: Bool) {
        let reply = ServiceReply.browsed(isAdded: isAdded, interface: interface, name: name, domain: "local.")
        tell(.reply(reply), \.isBrowse)
    }
}

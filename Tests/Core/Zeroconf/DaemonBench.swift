import Testing

@testable import Zeroconf

/// Simulates the library and the clock for a ``BrowserMachine``.
final class Bench {
    var machine: BrowserMachine
    var open: [ReferenceID: ServiceRequest] = [:]
    var timers: [TimerID: Duration] = [:]
    var events: [String] = []
    let type: ServiceType

    init() throws {
        type = try .tcp("robot")
        machine = BrowserMachine(type: type)
    }

    /// The names being resolved or watched.
    var resolving: Set<String> {
        Set(open.values.compactMap { if case .resolve(let instance) = $0 { instance.name } else { nil } })
    }

    func handle(_ input: MachineInput) {
        for action in machine.handle(input) {
            switch action {
            case .open(let id, let request):
                #expect(open.updateValue(request, forKey: id) == nil)
            case .close(let id):
                #expect(open.removeValue(forKey: id) != nil, "closed twice, or never opened")
            case .startTimer(let id, let delay):
                timers[id] = delay
            case .cancelTimer(let id):
                timers[id] = nil
            case .emit(let event):
                events.append(describe(event))
            case .updateTXT, .log:
                break
            }
        }
    }

    func takeEvents() -> [String] {
        defer { events = [] }
        return events
    }

    func begin() {
        handle(.start)
        opened()
    }

    func opened() {
        if let id = browse { handle(.reference(id, .opened)) } else { Issue.record("nothing was opened") }
    }

    func list(_ name: String, _ interface: UInt32) { browsed(name, interface, isAdded: true) }

    func unlist(_ name: String, _ interface: UInt32) { browsed(name, interface, isAdded: false) }

    func answer(_ name: String, host: String, port: Int) {
        guard let id = lookup(name) else { return complain("\(name) is not being resolved") }
        handle(.reference(id, .reply(.resolved(interface: 1, host: host, port: port, txt: [0]))))
    }

    func address(_ host: String, _ bytes: [UInt8]) {
        let id = open.first { if case .addresses(host, .ipv4) = $0.value { true } else { false } }?.key
        guard let id else { return complain("nobody asks for \(host)") }
        handle(.reference(id, .reply(.record(isAdded: true, interface: 1, data: bytes))))
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
    func answerAll(host: (String) -> String) {
        var answered: Set<ReferenceID> = []
        while let (id, request) = open.first(where: { !answered.contains($0.key) }) {
            answered.insert(id)
            switch request {
            case .resolve(let instance):
                answer(instance.name, host: host(instance.name), port: 1)
            case .addresses(_, let family):
                let bytes: [UInt8] = family == .ipv4 ? [10, 0, 0, 1] : [0xFD] + Array(repeating: 0, count: 15)
                handle(.reference(id, .reply(.record(isAdded: true, interface: 1, data: bytes))))
            case .browse, .register:
                break
            }
        }
    }

    func failLookup(_ name: String) {
        if let id = lookup(name) { handle(.reference(id, .failed(DNSServiceError(rawValue: -65537)))) }
    }

    func failBrowsing() {
        if let id = browse { handle(.reference(id, .failed(DNSServiceError(rawValue: -65537)))) }
    }

    /// Fires the only timer of this length.
    func runTimer(after delay: Duration) {
        guard let id = timers.first(where: { $0.value == delay })?.key else {
            return complain("no timer of \(delay) among \(timers.values)")
        }
        timers[id] = nil
        handle(.timer(id))
    }

    private var browse: ReferenceID? {
        open.first { if case .browse = $0.value { true } else { false } }?.key
    }

    private func lookup(_ name: String) -> ReferenceID? {
        open.first { if case .resolve(let instance) = $0.value { instance.name == name } else { false } }?.key
    }

    private func browsed(_ name: String, _ interface: UInt32, isAdded: Bool) {
        guard let browse else { return complain("nobody browses") }
        let reply = ServiceReply.browsed(isAdded: isAdded, interface: interface, name: name, domain: "local.")
        handle(.reference(browse, .reply(reply)))
    }

    private func complain(_ message: String) {
        Issue.record(Comment(rawValue: message))
    }

    private func describe(_ event: ServiceBrowser.Event) -> String {
        switch event {
        case .found(let service): "found \(service.instance.name) \(service.port) \(service.addresses)"
        case .updated(let service): "updated \(service.instance.name) \(service.port) \(service.addresses)"
        case .gone(let instance): "gone \(instance.name)"
        case .unresolved(let instance, _): "unresolved \(instance.name)"
        case .failed(let error, _): "failed \(error.code)"
        }
    }
}

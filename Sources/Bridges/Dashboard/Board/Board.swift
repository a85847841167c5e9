internal import Elemental
internal import ElementalFollowing
import ElementalWire
import NIOCore
import Support
internal import WebServer

/// All services in the form in which pages show them, and the pages.
///
/// It belongs to one event loop, which the services' connections and the web server share. The newest values go to
/// pages in ticks, at most 20 a second. A slower page receives them when it has room.
final class Board {
    static let interval = Duration.milliseconds(50)
    static let summaryInterval = Duration.seconds(1)

    let eventLoop: any EventLoop
    let policy: BoardPolicy
    let sessions: Follower
    let pairings: PagePairings
    private let host: String
    private let helloTimeout: TimeAmount

    private(set) var services: [UInt32: BoardService] = [:]
    private var known: [ServiceKey: BoardService] = [:]
    private var lastNumber: UInt32 = 0
    /// The services with values that are not sent to pages yet, by their numbers.
    var changed: [UInt32: BoardService] = [:]
    private(set) var viewers: [UInt64: Viewer] = [:]
    let ticks: RateLimitedTask
    /// Changed summary values, by their services' numbers, for pages that show the list.
    var summaryDue: Due = [:]
    let summaryTask: RateLimitedTask
    private var notices: [PageMessage.Notice: String] = [:]
    private var hasEnded = false
    var pairing: [UInt32: Task<Void, Never>] = [:]
    var grips = Grips()
    let fills: PlotFills

    init(
        _ sessions: Follower, pairings: PagePairings, policy: BoardPolicy, host: String, helloTimeout: Duration,
        on eventLoop: any EventLoop
    ) {
        self.sessions = sessions
        self.pairings = pairings
        self.policy = policy
        self.host = host
        self.helloTimeout = TimeAmount(helloTimeout)
        self.eventLoop = eventLoop
        fills = PlotFills(on: eventLoop)
        ticks = RateLimitedTask(every: Self.interval, on: eventLoop)
        summaryTask = RateLimitedTask(every: Self.summaryInterval, on: eventLoop)
        ticks.onRound = { [weak self] in self?.tick() }
        summaryTask.onRound = { [weak self] in self?.tellChanges() }
    }

    // MARK: - Pages

    private static let maximumUnadmittedCount = 32

    func add(_ socket: WebSocketConnection) {
        guard !hasEnded else { return socket.close(code: 1001, reason: "the dashboard ends") }
        let viewer = Viewer(socket)
        // The socket releases these closures when it closes.
        socket.onText = { [self] text in take(text, of: viewer) }
        socket.onWritable = { [self] in
            catchUp(viewer)
            fills.start()
        }
        socket.onClose = { [self] in
            viewers[viewer.socket.id] = nil
            letGo(viewer)
            fills.leave(viewer)
        }
        viewers[socket.id] = viewer
        // Pages that send no hello must not take the room of others: the oldest of them is closed.
        let silent = viewers.values.filter { !$0.isAdmitted }
        if silent.count > Self.maximumUnadmittedCount {
            silent.min { $0.socket.id < $1.socket.id }?.socket.close(code: 1008, reason: "no hello")
        }
        eventLoop.assumeIsolated().scheduleTask(in: helloTimeout) { [weak viewer] in
            if let viewer, !viewer.isAdmitted { viewer.socket.close(code: 1008, reason: "no hello") }
        }
    }

    /// Sets everything that pages hold to its rest value.
    func letGoAll() {
        for viewer in viewers.values { letGo(viewer) }
    }

    /// - Returns: pairings and plot fills that have been cancelled.
    func end() -> [Task<Void, Never>] {
        hasEnded = true
        ticks.end()
        summaryTask.end()
        defer { pairing = [:] }
        for task in pairing.values { task.cancel() }
        tell(PageMessage.bye("the dashboard ends"))
        return fills.end() + pairing.values
    }

    private func tell(_ frame: EncodedFrame) {
        for viewer in viewers.values where viewer.isAdmitted { viewer.socket.send(frame) }
    }

    private func viewers(of service: BoardService) -> some Sequence<Viewer> {
        viewers.values.lazy.filter { $0.shown.contains(service.number) }
    }

    private func take(_ text: ByteBuffer, of viewer: Viewer) {
        guard let request = PageRequest(text) else {
            return viewer.socket.close(code: 1008, reason: "not a message of the page")
        }
        if case .hello(let token) = request { return admit(viewer, token) }
        guard viewer.isAdmitted else { return viewer.socket.close(code: 1008, reason: "no hello") }
        switch request {
        case .hello: break
        // Answered with the next tick, which limits the rate, however often a page asks.
        case .open(let numbers):
            viewer.asked = numbers
            viewer.closed.formUnion(viewer.shown.subtracting(numbers))
            fills.leave(viewer) { !numbers.contains($0.service) }
            ticks.ask()
        case .list(let isShown):
            guard isShown != viewer.isListing else { return }
            viewer.isListing = isShown
            viewer.lacksSummary = isShown
            ticks.ask()
        case .set(let service, let id, let value, let rest, let number):
            set(service, id, value, rest: rest, number, for: viewer)
        case .grip(let service, let id, let rest, let number): grip(service, id, rest: rest, number, for: viewer)
        case .move(let moves, let number): move(moves, number, for: viewer)
        case .rest: for grip in grips.held(by: viewer) { rest(grip) }
        case .letGo: letGo(viewer)
        case .pair(let service, let code, let name, let number): pair(service, code, as: name, number, for: viewer)
        case .past(let service, let id, let seconds): fill(service, id, seconds, for: viewer)
        case .ping(let number): viewer.socket.send(PageMessage.pong(number))
        }
    }

    private func admit(_ viewer: Viewer, _ token: String?) {
        guard !viewer.isAdmitted else { return }
        switch viewer.socket.verdict(on: token) {
        case .accepted: break
        case .wrong: return viewer.socket.close(code: 1008, reason: "token")
        // The token was not checked, so this reason must not call it wrong.
        case .tooMany: return viewer.socket.close(code: 1008, reason: "too many tokens")
        }
        viewer.isAdmitted = true
        viewer.socket.send(PageMessage.hello(policy, host: host, targets: sessions.targets))
        for service in services.values.sorted(by: { $0.key < $1.key }) {
            viewer.socket.send(PageMessage.service(service, policy))
        }
        viewer.socket.send(PageMessage.listed)
        for (notice, text) in notices { viewer.socket.send(PageMessage.notice(notice, text)) }
    }

    // MARK: - What services do

    func note(_ event: FollowerEvent) {
        switch event {
        case .value(let key, let element, let value, let time):
            if let service = known[key] { change(service) { $0.take(value, of: element.id, at: time) } }
        case .refusal(let key, let element, let refusal):
            if let service = known[key] { note(refusal, of: element.id, service) }
        case .place(let key, let place):
            let service = service(of: key)
            service.place = place
            tell(PageMessage.service(service, policy))
        case .state(let key, .gone):
            guard let service = known.removeValue(forKey: key) else { return }
            services[service.number] = nil
            summaryDue[service.number] = nil
            loseGrips(of: service)
            fills.remove(service: service.number)
            tell(PageMessage.gone(service.number))
            for viewer in viewers.values { viewer.forget(service.number) }
        case .state(let key, let state): note(state, of: service(of: key))
        case .browsingFailed(let error, let delay):
            set(.discovery, "\(error.message); retrying in \(delay.components.seconds) s")
        case .browsingWorks: set(.discovery, nil)
        case .tooMany(let count):
            set(
                .excess,
                count == 0 ? nil : "\(count) more services are not shown; name the ones that you want")
        case .history, .leftOut, .roundTrip: break
        }
    }

    private func set(_ notice: PageMessage.Notice, _ text: String?) {
        guard notices[notice] != text else { return }
        notices[notice] = text
        tell(PageMessage.notice(notice, text))
    }

    private func service(of key: ServiceKey) -> BoardService {
        if let service = known[key] { return service }
        lastNumber += 1
        let service = BoardService(key, number: lastNumber)
        known[key] = service
        services[lastNumber] = service
        return service
    }

    /// The service refused a value that a page has set. Does nothing if no page has set one.
    private func note(_ refusal: ValueRefusal, of id: Int8, _ service: BoardService) {
        var senders: [UInt64: Int?]?
        change(service) { senders = $0.refuse(id) }
        guard let senders else { return }
        let number = service.number
        let others = PageMessage.refused(number, id, "\(refusal)", request: nil)
        for viewer in viewers(of: service) where viewer.socket.isWritable {
            let request = senders[viewer.socket.id]
            viewer.socket.send(
                request.map { PageMessage.refused(number, id, "\(refusal)", request: $0) } ?? others)
        }
    }

    /// How long the first values of a new connection take to arrive.
    private static let settlingTime = TimeAmount.seconds(1)

    private func note(_ state: FollowedState, of service: BoardService) {
        let isOther = service.take(state)
        tell(PageMessage.service(service, policy))
        if case .connected(let device, _) = state {
            // When the values have arrived, pages learn which elements have no value any more.
            eventLoop.assumeIsolated().scheduleTask(in: Self.settlingTime) { [weak self, weak service] in
                guard let self, let service, service.isConnected, service.device === device else { return }
                change(service) { $0.settle() }
            }
        }
        guard isOther else { return }
        fills.remove(service: service.number)
        summaryDue[service.number] = nil
        for viewer in viewers(of: service) {
            viewer.due[service.number] = nil
            viewer.dueCatalogues.insert(service.number)
            catchUp(viewer)
        }
    }
}

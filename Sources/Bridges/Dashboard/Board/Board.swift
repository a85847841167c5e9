internal import Bridging
internal import Elemental
import ElementalWire
import NIOCore
import Support
internal import WebServer

/// The services as pages see them, and the pages.
///
/// It belongs to the web server's event loop, on which everything happens: what services do is put into an ``Inbox``
/// from their own loops and taken from there in ticks, at most 20 a second. What a tick brought is written once for all
/// pages that show the same services. A page that is slower than that is sent the newest values when it has room.
final class Board {
    /// The shortest time between two ticks.
    static let interval = Duration.milliseconds(50)

    let eventLoop: any EventLoop
    let policy: BoardPolicy
    let sessions: ServiceSessions
    let pairings: PagePairings
    let inbox: Inbox
    private let host: String
    /// What the token of a page from that socket is worth.
    private let verdict: (String?, WebSocketConnection) -> TokenVerdict
    /// How long a page may take to say hello.
    private let helloTimeout: TimeAmount

    private(set) var services: [UInt32: BoardService] = [:]
    private var numbers: [ServiceKey: UInt32] = [:]
    private var lastNumber: UInt32 = 0
    private(set) var viewers: [UInt64: Viewer] = [:]
    private var sets: [Set<UInt32>: ServiceSet] = [:]
    private let ticks: Rounds
    /// Why services are not found, or not all of them shown.
    private var notices = (browsing: String?.none, excess: String?.none)
    private var hasEnded = false
    /// Pairings under way.
    var pairing: [UInt32: Task<Void, Never>] = [:]

    init(
        _ sessions: ServiceSessions, pairings: PagePairings, policy: BoardPolicy, host: String,
        helloTimeout: Duration, on eventLoop: any EventLoop,
        verdict: @escaping (String?, WebSocketConnection) -> TokenVerdict, inbox: Inbox
    ) {
        self.sessions = sessions
        self.pairings = pairings
        self.policy = policy
        self.host = host
        self.helloTimeout = TimeAmount(helloTimeout)
        self.eventLoop = eventLoop
        self.verdict = verdict
        self.inbox = inbox
        ticks = Rounds(every: Self.interval, on: eventLoop)
        ticks.onRound = { [weak self] in self?.runTick() }
    }

    // MARK: - Pages

    /// The most pages that have not said hello.
    private static let maximumUnadmittedCount = 32

    /// A page has connected.
    func add(_ socket: WebSocketConnection) {
        guard !hasEnded else { return socket.close(code: 1001, reason: "the dashboard ends") }
        let viewer = Viewer(socket)
        show([], to: viewer)
        socket.onText = { [weak self, weak viewer] text in
            guard let self, let viewer else { return }
            self.take(text, of: viewer)
        }
        socket.onWritable = { [weak self, weak viewer] in
            guard let self, let viewer else { return }
            self.catchUp(viewer)
        }
        socket.onClose = { [weak self, weak viewer] in
            guard let self, let viewer else { return }
            self.remove(viewer)
        }
        viewers[socket.id] = viewer
        // Those that say nothing take no room from others: the one that came first goes.
        let silent = viewers.values.filter { !$0.isAdmitted }
        if silent.count > Self.maximumUnadmittedCount {
            silent.min { $0.socket.id < $1.socket.id }?.socket.close(code: 1008, reason: "no hello")
        }
        eventLoop.assumeIsolated().scheduleTask(in: helloTimeout) { [weak viewer] in
            if let viewer, !viewer.isAdmitted { viewer.socket.close(code: 1008, reason: "no hello") }
        }
    }

    private func remove(_ viewer: Viewer) {
        viewers[viewer.socket.id] = nil
        leave(viewer.shown)
    }

    /// Ends with the pages.
    ///
    /// - Returns: pairings that are being given up.
    func end() -> [Task<Void, Never>] {
        hasEnded = true
        ticks.end()
        defer { pairing = [:] }
        for task in pairing.values { task.cancel() }
        let bye = PageMessage.bye("the dashboard ends")
        for viewer in viewers.values where viewer.isAdmitted { viewer.socket.send(bye) }
        return Array(pairing.values)
    }

    private func tell(_ frame: EncodedFrame, where isAddressed: (Viewer) -> Bool = { _ in true }) {
        for viewer in viewers.values where viewer.isAdmitted && isAddressed(viewer) { viewer.socket.send(frame) }
    }

    private func take(_ text: ByteBuffer, of viewer: Viewer) {
        guard let request = PageRequest(text) else {
            return viewer.socket.close(code: 1008, reason: "not a message of the page")
        }
        if case .hello(let token) = request { return admit(viewer, token) }
        guard viewer.isAdmitted else { return viewer.socket.close(code: 1008, reason: "no hello") }
        switch request {
        case .hello: break
        // With the next tick: however often a page asks, it is answered so often only.
        case .open(let numbers):
            viewer.asked = numbers
            viewer.closed.formUnion(viewer.shown.numbers.subtracting(numbers))
            wake()
        case .set(let service, let id, let value, let number): set(service, id, value, number, for: viewer)
        case .pair(let service, let code, let name, let number): pair(service, code, as: name, number, for: viewer)
        case .ping(let number): viewer.socket.send(PageMessage.pong(number))
        }
    }

    private func admit(_ viewer: Viewer, _ token: String?) {
        guard !viewer.isAdmitted else { return }
        switch verdict(token, viewer.socket) {
        case .accepted: break
        case .wrong: return viewer.socket.close(code: 1008, reason: "token")
        // Its token may be right.
        case .tooMany: return viewer.socket.close(code: 1008, reason: "too many tokens")
        }
        viewer.isAdmitted = true
        viewer.socket.send(PageMessage.hello(policy, host: host))
        for service in services.values.sorted(by: { $0.key < $1.key }) {
            viewer.socket.send(PageMessage.service(service, policy))
        }
        viewer.socket.send(PageMessage.listed)
        if let notice { viewer.socket.send(PageMessage.notice(notice)) }
    }

    // MARK: - What pages show

    /// Shows a page the services that it asks for.
    private func open(_ numbers: Set<UInt32>, for viewer: Viewer) {
        let earlier = viewer.shown.numbers.subtracting(viewer.closed)
        for number in viewer.closed { viewer.forget(number) }
        viewer.closed = []
        let known = numbers.filter { services[$0] != nil }
        show(known, to: viewer)
        for number in earlier.subtracting(known) { viewer.forget(number) }
        for number in known.subtracting(earlier) {
            viewer.missedCatalogues.insert(number)
            let ids = services[number].map { Set($0.ids) } ?? []
            if !ids.isEmpty { viewer.missed[number] = ids }
        }
        catchUp(viewer)
    }

    private func show(_ numbers: Set<UInt32>, to viewer: Viewer) {
        leave(viewer.shown)
        let set = sets[numbers] ?? ServiceSet(numbers)
        sets[numbers] = set
        set.viewerCount += 1
        viewer.shown = set
    }

    private func leave(_ set: ServiceSet) {
        set.viewerCount -= 1
        if set.viewerCount <= 0, sets[set.numbers] === set { sets[set.numbers] = nil }
    }

    /// Sends a page what it has missed, as far as there is room. What does not fit is not written in vain either.
    private func catchUp(_ viewer: Viewer) {
        guard viewer.isBehind, viewer.socket.isWritable else { return }
        for number in viewer.missedCatalogues.sorted() {
            guard viewer.socket.isWritable else { return }
            viewer.missedCatalogues.remove(number)
            if let catalogue = services[number]?.catalogueMessage(policy) { viewer.socket.send(catalogue) }
        }
        var packer = Packer()
        for (number, ids) in viewer.missed {
            guard let service = services[number] else {
                viewer.forget(number)
                continue
            }
            for id in ids {
                guard viewer.socket.isWritable else { return }
                if packer.add(id, of: service) { viewer.send(packer.takeFull()) } else { viewer.forget(number, id) }
            }
        }
        viewer.send(packer.finish())
    }

    // MARK: - Ticks

    /// Something has come into the inbox.
    func wake() { ticks.ask() }

    /// Takes what has come and tells the pages.
    func runTick() {
        let batch = inbox.take()
        for event in batch.events { take(event) }
        for (key, refusals) in batch.refusals {
            guard let number = numbers[key], let service = services[number] else { continue }
            for (id, refusal) in refusals { take(refusal, of: id, service) }
        }
        for (key, arrivals) in batch.values {
            guard let number = numbers[key], let service = services[number] else { continue }
            service.take(arrivals)
        }
        tellChanges()
        // What a page opens comes whole. After the changes, which would come a second time otherwise.
        for viewer in viewers.values {
            if let numbers = viewer.asked {
                viewer.asked = nil
                open(numbers, for: viewer)
            }
        }
    }

    /// Tells the pages the values that have changed.
    private func tellChanges() {
        let changed = Set(services.values.lazy.filter { !$0.changed.isEmpty }.map(\.number))
        guard !changed.isEmpty else { return }
        for viewer in viewers.values where !viewer.shown.numbers.isDisjoint(with: changed) {
            // What it has missed comes first, so that nothing is overtaken by older values.
            guard !viewer.isBehind, viewer.socket.isWritable else {
                for number in viewer.shown.numbers.intersection(changed) {
                    viewer.missed[number, default: []].formUnion(services[number]?.changed ?? [])
                }
                catchUp(viewer)
                continue
            }
            viewer.send(viewer.shown.news ?? news(for: viewer.shown))
        }
        for set in sets.values { set.news = nil }
        for number in changed { services[number]?.endTick() }
    }

    /// What has changed, written once for all pages that show the same services.
    private func news(for set: ServiceSet) -> [Parcel] {
        var packer = Packer()
        for number in set.numbers.sorted() {
            if let service = services[number], !service.changed.isEmpty { packer.add(service.changed, of: service) }
        }
        let news = packer.finish()
        set.news = news
        return news
    }

    private func take(_ event: SessionEvent) {
        switch event {
        case .place(let key, let place):
            let service = service(of: key)
            service.place = place
            tell(PageMessage.service(service, policy))
        case .state(let key, .gone):
            guard let number = numbers.removeValue(forKey: key) else { return }
            services[number] = nil
            tell(PageMessage.gone(number))
            for viewer in viewers.values where viewer.shown.numbers.contains(number) {
                show(viewer.shown.numbers.subtracting([number]), to: viewer)
                viewer.forget(number)
            }
        case .state(let key, let state): note(state, of: service(of: key))
        case .browsingFailed(let error, let delay):
            notices.browsing = "\(error.message); the next attempt follows in \(delay.components.seconds) s"
            tellNotice()
        case .browsingWorks:
            notices.browsing = nil
            tellNotice()
        case .tooMany(let count):
            notices.excess =
                count == 0 ? nil : "\(count) services more were found than this page shows; name those that it should"
            tellNotice()
        case .value, .refusal, .leftOut, .roundTrip: break
        }
    }

    private var notice: String? {
        let texts = [notices.browsing, notices.excess].compactMap { $0 }
        return texts.isEmpty ? nil : texts.joined(separator: ". ")
    }

    private func tellNotice() { tell(PageMessage.notice(notice)) }

    /// The service refused a value that a page has set. One that nobody has set is not asked for.
    private func take(_ refusal: ValueRefusal, of id: Int8, _ service: BoardService) {
        guard let requests = service.takeRequests(id) else { return }
        service.takeBack(id)
        let number = service.number
        let others = PageMessage.refused(number, id, "\(refusal)", request: nil)
        for viewer in viewers.values where viewer.shown.numbers.contains(number) && viewer.socket.isWritable {
            let request = requests[viewer.socket.id]
            viewer.socket.send(
                request.map { PageMessage.refused(number, id, "\(refusal)", request: $0) } ?? others)
        }
    }

    private func service(of key: ServiceKey) -> BoardService {
        if let number = numbers[key], let service = services[number] { return service }
        lastNumber += 1
        let service = BoardService(key, number: lastNumber)
        numbers[key] = lastNumber
        services[lastNumber] = service
        return service
    }

    private func note(_ state: SessionState, of service: BoardService) {
        var isOther = false
        switch state {
        case .connecting: service.standing = .connecting
        case .connected(let device, let catalogue): isOther = service.connected(device, catalogue)
        case .away(_, let message, _, let mayPair): service.standing = .away(message, mayPair: mayPair)
        case .refused(let refusal):
            service.standing =
                switch refusal.kind {
                case .notPaired: .notPaired(refusal.message)
                case .identityChanged: .identityChanged(refusal.message)
                case .other: .refused(refusal.message)
                }
        case .gone: break
        }
        tell(PageMessage.service(service, policy))
        if case .connected = state { settleLater(service) }
        guard isOther else { return }
        for viewer in viewers.values where viewer.shown.numbers.contains(service.number) {
            viewer.missed[service.number] = nil
            viewer.missedCatalogues.insert(service.number)
            catchUp(viewer)
        }
    }

    /// How long the values take that follow a connection.
    private static let settlingTime = TimeAmount.seconds(1)

    /// Once the values of a new connection are there, pages are told which elements have none any more.
    private func settleLater(_ service: BoardService) {
        let device = service.device
        eventLoop.assumeIsolated().scheduleTask(in: Self.settlingTime) { [weak self, weak service] in
            guard let self, let service, service.device === device, case .connected = service.standing else { return }
            service.settle()
            self.tellChanges()
        }
    }

    // MARK: - Quality

    /// Tells pages how well the services that they show are connected.
    func tellQuality() {
        let shown = sets.values.reduce(into: Set<UInt32>()) { $0.formUnion($1.numbers) }
        guard !shown.isEmpty else { return }
        let now = ContinuousClock.now
        var qualities: [UInt32: Quality] = [:]
        for number in shown { qualities[number] = services[number]?.quality(now) }
        for set in sets.values where !set.numbers.isEmpty {
            let frame = PageMessage.quality(
                set.numbers.sorted().compactMap { number in qualities[number].map { (number, $0) } })
            tell(frame) { $0.shown === set && $0.socket.isWritable }
        }
    }
}

import Support

/// Keeps one registration alive: tries other names if the name is taken, and retries after a failure.
struct PublisherMachine: ServiceMachine {
    typealias Event = ServicePublisher.Event
    typealias Action = MachineAction<Event>

    private enum Phase {
        case idle
        /// The call is running, or it has returned and the daemon is probing. The timer limits the wait for the answer.
        case registering(ReferenceID, TimerID)
        case published(ReferenceID, name: String)
        case waiting(TimerID)
    }

    /// Avahi never reports some conflicts. Otherwise it answers after about 0.8 s of probing, or after 2 s if it
    /// renames.
    private static let answerLimit = Duration.seconds(10)
    private static let maximumNameCount = 100

    private let wantedName: String
    private let type: ServiceType
    private let port: Int
    private let reach: ServiceReach
    private var txt: [UInt8]

    private var phase = Phase.idle
    private var ids = IDGenerator()
    private var delay = BackOff()
    /// The name to request: first the wanted one, later the one that was last published.
    private var baseName: String
    private var nameNumber = 1

    init(name: String, type: ServiceType, port: Int, txt: [UInt8], reach: ServiceReach = .network) {
        wantedName = name
        baseName = name
        self.type = type
        self.port = port
        self.reach = reach
        self.txt = txt
    }

    func replay() -> [Event] {
        guard case .published(_, let name) = phase else { return [] }
        return [.published(name: name)]
    }

    mutating func handle(_ input: MachineInput) -> [Action] {
        switch input {
        case .start:
            guard case .idle = phase else { return [] }
            return register()
        case .stop:
            defer { phase = .idle }
            return release()
        case .update(let record):
            // The publisher has already encoded the record, so that this does not fail.
            guard let bytes = try? record.encoded() else { return [] }
            txt = bytes
            return current.map { [.updateTXT($0, bytes)] } ?? []
        case .survey:
            return []
        case .timer(let id):
            return handleTimer(id)
        case .reference(let id, let event):
            return id == current ? handle(event, from: id) : []
        }
    }

    private var current: ReferenceID? {
        switch phase {
        case .registering(let id, _), .published(let id, _): id
        case .idle, .waiting: nil
        }
    }

    private mutating func register() -> [Action] {
        let id = ids.reference()
        let limit = ids.timer()
        phase = .registering(id, limit)
        let name = ServiceName.candidate(nameNumber, for: baseName)
        return [
            .open(id, .register(name: name, type: type, port: port, txt: txt, reach: reach)),
            .startTimer(limit, Self.answerLimit),
        ]
    }

    private mutating func handleTimer(_ id: TimerID) -> [Action] {
        switch phase {
        case .registering(_, let limit) where limit == id:
            let error = ZeroconfError(
                .timedOut,
                "publishing \"\(wantedName)\" as \(type): the daemon did not answer within \(Self.answerLimit); "
                    + "check that it runs and has a network; publishing is retried"
            )
            return fail(error)
        case .waiting(let timer) where timer == id:
            return register()
        default:
            return []
        }
    }

    private mutating func handle(_ event: ReferenceEvent, from id: ReferenceID) -> [Action] {
        switch event {
        case .opened:
            return []
        case .reply(.registered(let name)):
            return published(name, by: id)
        case .reply:
            return []
        case .openingFailed(.nameConflict), .failed(.nameConflict):
            guard nameNumber < Self.maximumNameCount else {
                nameNumber = 1
                return fail(.translating(.nameConflict, while: "publishing \"\(wantedName)\" as \(type)"))
            }
            nameNumber += 1
            let name = ServiceName.candidate(nameNumber, for: baseName)
            return release() + [.log(.debug("the name is taken; trying \"\(name)\""))] + register()
        case .openingFailed(let error), .failed(let error):
            return fail(.translating(error, while: "publishing \"\(wantedName)\" as \(type)"))
        }
    }

    private mutating func published(_ name: String, by id: ReferenceID) -> [Action] {
        delay.reset()
        // Requested first after a failure, so that a service keeps its name when the daemon restarts.
        baseName = name
        nameNumber = 1
        switch phase {
        case .published(_, let oldName):
            phase = .published(id, name: name)
            return oldName == name ? [] : [.emit(.renamed(from: oldName, to: name))]
        case .registering(_, let limit):
            phase = .published(id, name: name)
            return [.cancelTimer(limit), .emit(.published(name: name))]
        case .idle, .waiting:
            return []
        }
    }

    private mutating func fail(_ error: ZeroconfError) -> [Action] {
        let actions = release()
        let wait = delay.next()
        let timer = ids.timer()
        phase = .waiting(timer)
        return actions + [
            .startTimer(timer, wait), .log(.warning("\(error); retrying in \(wait)")),
            .emit(.failed(error, retryIn: wait)),
        ]
    }

    private func release() -> [Action] {
        switch phase {
        case .idle: []
        case .registering(let id, let limit): [.cancelTimer(limit), .close(id)]
        case .published(let id, _): [.close(id)]
        case .waiting(let timer): [.cancelTimer(timer)]
        }
    }
}

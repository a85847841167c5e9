import ElementalFollowing
import Support

/// The connected targets, and the reasons why the others are not connected.
struct TargetProgress: Sendable {
    private struct State {
        var connected: Set<ServiceKey> = []
        /// The reason codes of the services that are not connected.
        var codes: [ServiceKey: String] = [:]
        var browsingFails = false
    }

    let targets: [Target]
    private let state = Locked(State())
    let allConnected = Latch()

    var connected: [ServiceKey] { state.withLock { Array($0.connected) } }

    private var missing: [Target] {
        let connected = connected
        return targets.filter { target in !connected.contains(where: target.covers) }
    }

    /// The failure if not all targets are connected, with the code that decides the exit status; `nil` if all are.
    func failure(_ message: (_ missing: String) -> String) -> CommandFailure? {
        let missing = missing
        let codes = state.withLock { state in
            missing.flatMap { target in
                let known = state.codes.filter { target.covers($0.key) }.map(\.value)
                return known.isEmpty ? [state.browsingFails ? "discoveryFailed" : "serviceNotFound"] : known
            }
        }
        return CommandStatus.decisive(codes).map { code in
            CommandFailure(code, message(quotedList(missing.map(\.text), "and")))
        }
    }

    func note(_ event: FollowerEvent) {
        switch event {
        case .state(let key, let change):
            state.withLock { state in
                state.codes[key] = change.failureCode
                if case .connected = change {
                    state.connected.insert(key)
                } else {
                    state.connected.remove(key)
                }
            }
            if missing.isEmpty { allConnected.open() }
        case .browsingFailed: state.withLock { $0.browsingFails = true }
        case .browsingWorks: state.withLock { $0.browsingFails = false }
        case .place, .value, .history, .refusal, .leftOut, .roundTrip, .tooMany: break
        }
    }
}

extension FollowedState {
    /// The reason code of a service that is not connected; `nil` if it is connected or gone.
    fileprivate var failureCode: String? {
        switch self {
        case .connected, .gone: nil
        case .connecting: "notConnected"
        case .away(let problem, _), .refused(let problem): problem.code
        }
    }
}

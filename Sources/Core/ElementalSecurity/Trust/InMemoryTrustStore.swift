import Support

/// A store that lives only as long as the process: for tests, and for apps that store the peers themselves.
public final class InMemoryTrustStore: TrustStore {
    private struct State {
        var peers: TrustedPeers
        var changes: Int64 = 0
    }
    private let state: Locked<State>
    /// Held during a change, which may read the store.
    private let writing = Lock()

    /// Creates a store that trusts these peers.
    public init(_ peers: TrustedPeers = TrustedPeers()) { state = Locked(State(peers: peers)) }

    public func read() -> TrustedPeers { state.withLock { $0.peers } }

    /// - Throws: the errors of `change`, or ``SecurityError`` if the result is not valid.
    public func update<Result>(_ change: (inout TrustedPeers) throws -> Result) throws -> Result {
        try writing.withLock {
            var peers = read()
            let result = try change(&peers)
            try peers.validate()
            state.withLock { state in
                guard state.peers != peers else { return }
                state = State(peers: peers, changes: state.changes + 1)
            }
            return result
        }
    }

    public func revision() -> TrustRevision { TrustRevision(state.withLock { $0.changes }) }
}

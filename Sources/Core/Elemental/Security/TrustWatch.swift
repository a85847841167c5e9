import ElementalSecurity
import ElementalWire
import Logging
import NIOCore
import NIOPosix

/// Whom a service trusts at this moment: the contents of its store, which is looked at once a second on a thread that
/// may block. On the service's event loop.
final class TrustWatch {
    /// What a store held when it was read.
    struct Snapshot: Sendable {
        let peers: TrustedPeers
        let revision: TrustRevision

        /// Blocks.
        init(_ store: any TrustStore) throws {
            // Before reading, so that a change in between is seen at the next look.
            revision = store.revision()
            peers = try store.read()
        }
    }

    private static let interval = TimeAmount.seconds(1)

    private let store: any TrustStore
    private let own: Fingerprint
    private let service: String
    let eventLoop: any EventLoop
    private let logger: Logger
    /// `nil` if the store cannot be read: nobody is trusted then.
    private var snapshot: Snapshot?
    private var timer: Scheduled<Void>?
    private var didChange: () -> Void = {}

    init(_ keys: ServiceKeys, service: String, on eventLoop: any EventLoop, logger: Logger) {
        store = keys.store
        snapshot = keys.snapshot
        own = keys.tls.fingerprint
        self.service = service
        self.eventLoop = eventLoop
        self.logger = logger
    }

    /// The most that a client may do; `nil` for one that is not paired. The service's own key, which another program of
    /// the same user has, needs no pairing.
    func role(of client: Fingerprint) -> Role? {
        client == own ? .admin : snapshot?.peers.role(of: client, for: service)
    }

    /// Changes the store.
    ///
    /// - Returns: a future that succeeds when the change is stored and takes effect here.
    func update<Value: Sendable>(
        _ change: @escaping @Sendable (inout TrustedPeers) throws -> Value
    ) -> EventLoopFuture<Value> {
        NIOThreadPool.singleton.runIfActive(eventLoop: eventLoop) { [store] in
            let value = try store.update(change)
            return (value, try Snapshot(store))
        }.assumeIsolated().map { [self] (value, snapshot) in
            self.snapshot = snapshot
            didChange()
            return value
        }.nonisolated()
    }

    /// Looks at the store once a second from now on.
    ///
    /// - Parameter didChange: called after a change.
    func start(_ didChange: @escaping () -> Void) {
        self.didChange = didChange
        schedule()
    }

    func stop() {
        timer?.cancel()
        timer = nil
        didChange = {}
    }

    private func schedule() {
        timer = eventLoop.assumeIsolated().scheduleTask(in: Self.interval) { [self] in look() }
    }

    private func look() {
        let store = store
        let known = snapshot?.revision
        NIOThreadPool.singleton.runIfActive(eventLoop: eventLoop) { () -> Snapshot? in
            store.revision() == known ? nil : try Snapshot(store)
        }.assumeIsolated().whenComplete { [self] result in
            // Stopped meanwhile.
            guard timer != nil else { return }
            schedule()
            // What a change of this service's own has left is newer than what was read meanwhile.
            guard snapshot?.revision == known else { return }
            switch result {
            case .success(nil): return
            case .success(let snapshot?): self.snapshot = snapshot
            case .failure(let error):
                guard snapshot != nil else { return }
                snapshot = nil
                logger.error("the trusted peers cannot be read: nobody is trusted", metadata: ["error": "\(error)"])
            }
            didChange()
        }
    }
}

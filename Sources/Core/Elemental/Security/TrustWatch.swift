import ElementalSecurity
import ElementalWire
import Logging
import NIOCore
import NIOPosix

/// A service's trusted clients. Reads their store again when it changes, and reports each change. On the service's
/// event loop.
final class TrustWatch {
    struct Snapshot: Sendable {
        let peers: TrustedPeers
        let revision: TrustRevision

        /// Blocks.
        init(_ store: any TrustStore) throws {
            // Read first, so that the next read finds a change in between.
            revision = store.revision()
            peers = try store.read()
        }

        /// `nil` if nothing has changed since that revision. Blocks.
        init?(_ store: any TrustStore, since known: TrustRevision?) throws {
            guard store.revision() != known else { return nil }
            try self.init(store)
        }
    }

    enum Change {
        /// - Parameter wasAvailable: whether the store could be read before.
        case trust(wasAvailable: Bool)
        /// The store cannot be read: no client is trusted until it can.
        case unavailable(any Error)
        case identityLost(any Error)
    }

    private let keys: ServiceKeys
    private let service: String
    let eventLoop: any EventLoop
    private let logger: Logger
    private var snapshot: Snapshot?
    private var watch: StoreWatch<Snapshot?>?
    private var report: (Change) -> Void = { _ in }

    init(_ keys: ServiceKeys, service: String, on eventLoop: any EventLoop, logger: Logger) {
        self.keys = keys
        snapshot = keys.snapshot
        self.service = service
        self.eventLoop = eventLoop
        self.logger = logger
    }

    /// Returns a client's role; `nil` if it is not paired. The service's own key, which another program of the same
    /// user has, needs no pairing.
    func role(of client: Fingerprint) -> Role? {
        guard let snapshot else { return nil }
        return client == keys.identity.fingerprint ? .admin : snapshot.peers.role(of: client, for: service)
    }

    func storedRole(of client: Fingerprint) throws(AdmissionRefusal) -> Role? {
        guard snapshot != nil else { throw .trustUnavailable }
        return role(of: client)
    }

    /// - Returns: a future that succeeds when the change is stored and in effect.
    func update<Value: Sendable>(
        _ change: @escaping @Sendable (inout TrustedPeers) throws -> Value
    ) -> EventLoopFuture<Value> {
        NIOThreadPool.singleton.runIfActive(eventLoop: eventLoop) { [store = keys.store] in
            let value = try store.update(change)
            return (value, try Snapshot(store))
        }.assumeIsolated().map { [self] (value, snapshot) in
            use(snapshot)
            return value
        }.nonisolated()
    }

    func start(_ report: @escaping (Change) -> Void) {
        self.report = report
        let (identity, store) = (keys.identity, keys.store)
        var known: TrustRevision?
        watch = StoreWatch(
            on: eventLoop, directories: { identity.watchedDirectories.merging(store.watchedDirectories) },
            read: { [self] in
                known = snapshot?.revision
                return { [known] in
                    do { try identity.checkIsCurrent() } catch { throw IdentityLost(cause: error) }
                    return try Snapshot(store, since: known)
                }
            },
            report: { [self] result in
                if case .failure(let lost as IdentityLost) = result {
                    let report = self.report
                    stop()
                    return report(.identityLost(lost.cause))
                }
                // This service's own change is newer than the contents that were read meanwhile.
                guard snapshot?.revision == known else { return }
                switch result {
                case .success(nil): return
                case .success(let snapshot?): use(snapshot)
                case .failure(let error):
                    guard snapshot != nil else { return }
                    snapshot = nil
                    logger.error("trusted peers cannot be read: no client is trusted", metadata: ["error": "\(error)"])
                    self.report(.unavailable(error))
                }
            })
    }

    func stop() {
        watch?.stop()
        watch = nil
        report = { _ in }
    }

    private func use(_ snapshot: Snapshot) {
        let wasAvailable = self.snapshot != nil
        self.snapshot = snapshot
        report(.trust(wasAvailable: wasAvailable))
    }

    private struct IdentityLost: Error {
        let cause: any Error
    }
}

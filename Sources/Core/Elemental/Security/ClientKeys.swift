import ElementalSecurity
import NIOCore
import NIOPosix
import Support

/// A client's identity and trusted services, which may appear while it runs. All copies of a ``ClientSecurity`` share
/// one instance, so that one watch serves all their connections.
final class ClientKeys: Sendable {
    struct Trust: Sendable {
        let peers: TrustedPeers
        let own: Fingerprint
    }

    private struct State {
        var keys: ClientSecurity.Keys?
        /// The revision that all watchers have received.
        var told: TrustRevision?
        var watcherCount = 0
        /// Empty while there are no watchers.
        var watch: NIOLoopBoundBox<StoreWatch<Trust?>?>?
    }

    private let state = Locked(State())
    private let news = EventHub<Trust>()
    private let find: @Sendable () throws -> ClientSecurity.Keys?

    init(_ find: @escaping @Sendable () throws -> ClientSecurity.Keys?) { self.find = find }

    convenience init(_ keys: ClientSecurity.Keys) {
        self.init { keys }
        state.withLock { $0.keys = keys }
    }

    var known: ClientSecurity.Keys? { state.withLock { $0.keys } }

    /// Returns the keys, and looks for them until they exist. Blocks.
    func read() throws -> ClientSecurity.Keys? {
        if let known { return known }
        guard let keys = try find() else { return nil }
        return state.withLock { state in
            state.keys = state.keys ?? keys
            return state.keys
        }
    }

    /// Calls the handler with the trusted services, soon and after each change, until the result is released.
    func watch(on eventLoop: any EventLoop, _ handler: @escaping (Trust) -> Void) -> AnyObject {
        let handler = NIOLoopBound(handler, eventLoop: eventLoop)
        let cancel = news.addEventHandler { trust in eventLoop.execute { handler.value(trust) } }
        state.withLock { state in
            state.watcherCount += 1
            // The next read notifies all watchers, so that the new one gets the contents too.
            state.told = nil
        }
        updateWatch()
        return WatchToken { [self] in
            cancel()
            state.withLock { $0.watcherCount -= 1 }
            updateWatch()
        }
    }

    private func updateWatch() {
        let watch = state.withLock { state in
            let watch = state.watch ?? .makeEmptyBox(eventLoop: MultiThreadedEventLoopGroup.singleton.any())
            state.watch = watch
            return watch
        }
        watch.eventLoop.execute { [self] in
            let isWanted = state.withLock { $0.watcherCount } > 0
            if !isWanted {
                watch.value?.stop()
                watch.value = nil
            } else if let watch = watch.value {
                watch.readSoon()
            } else {
                watch.value = StoreWatch(
                    on: watch.eventLoop,
                    directories: { [self] in
                        known.flatMap { $0.identity.watchedDirectories.merging($0.store.watchedDirectories) }
                    },
                    read: { { [self] in try look() } },
                    // If the store cannot be read, the next attempt to connect reports it.
                    report: { [news] result in if case .success(let trust?) = result { news.emit(trust) } })
            }
        }
    }

    /// Reads the store. Blocks.
    ///
    /// - Returns: `nil` if the watchers have received the current contents.
    private func look() throws -> Trust? {
        guard let keys = try read() else { return nil }
        let told = state.withLock { $0.told }
        guard let snapshot = try TrustWatch.Snapshot(keys.store, since: told) else { return nil }
        state.withLock { $0.told = snapshot.revision }
        return Trust(peers: snapshot.peers, own: keys.identity.fingerprint)
    }
}

/// Ends a watch when it is released.
final class WatchToken: Sendable {
    private let end: @Sendable () -> Void

    init(_ end: @escaping @Sendable () -> Void) { self.end = end }

    deinit { end() }
}

extension ClientKeys.Trust {
    /// Whether a pairing made during a connection permits more than the connection does.
    ///
    /// - Parameters:
    ///   - key: the service's proven identity; `nil` if the connection is not encrypted.
    ///   - pins: those that decided how the connection was made.
    func gives(
        _ target: ConnectionTarget, key: Fingerprint?, granted: Role, wanted: Role, since pins: [TrustedService]
    ) -> Bool {
        let match = peers.match(target, own: own)
        guard let key else { return match.requiresTLS && (match == .own || match.isNews(for: target, since: pins)) }
        guard match.isNews(for: target, since: pins) else { return false }
        return min(match.pins.filter { $0.fingerprint == key }.compactMap(\.role).max() ?? .plain, wanted) > granted
    }
}

extension PinMatch {
    var pins: [TrustedService] {
        switch self {
        case .pinned(let pin), .renamed(let pin), .sibling(let pin): [pin]
        case .knownHost(let pins): pins
        case .nothing, .own: []
        }
    }

    /// Whether the target was paired since, or for another role. For a host and port only pins of that port count.
    fileprivate func isNews(for target: ConnectionTarget, since old: [TrustedService]) -> Bool {
        let news = pins.filter { pin in
            !old.contains { $0.fingerprint == pin.fingerprint && $0.role == pin.role && $0.service == pin.service }
        }
        if case .knownHost = self, target.instance == nil {
            return news.contains { $0.isReached(at: target, samePort: true) }
        }
        return !news.isEmpty
    }
}

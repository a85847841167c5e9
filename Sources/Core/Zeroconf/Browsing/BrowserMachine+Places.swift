/// The places for lookups. Each open reference costs a thread, a D-Bus connection and five descriptors, so the number
/// of places does not grow with the number of services.
///
/// An answered lookup keeps its place and reports changes until another lookup needs the place; the one that was opened
/// first gives way first. While all subjects have places, no timer runs. Otherwise the subjects without a place take
/// turns.
extension BrowserMachine {
    /// The subject of a lookup.
    enum Subject: Hashable {
        /// A service's host, port and TXT record: one reference.
        case service(ServiceInstance)
        /// A host's addresses: one reference for each family.
        case host(String)

        fileprivate var referenceCount: Int {
            if case .host = self { NetworkAddress.Family.allCases.count } else { 1 }
        }
    }

    /// The maximum number of open references, besides the one that browses.
    static let maximumReferenceCount = 6
    /// The maximum number of failed lookups that are retried at the same time. Each retry takes seconds, and lookups are
    /// retried until the service is no longer listed.
    static let maximumRetryCount = 3
    /// Every subject without a place gets a turn within this time, or within ``shortestTurn`` times their number if
    /// that is longer.
    static let maximumRestTime = Duration.seconds(30)
    static let shortestTurn = Duration.seconds(1)
    /// The maximum number of subjects that are looked up again at once for a new subscriber.
    private static let maximumRenewedCount = 64

    mutating func startLookups() {
        while let subject = nextPending(), makeRoom(for: subject) {
            forget(subject)
            begin(subject)
        }
        if nextPending() == nil {
            while let subject = longestResting(),
                references.count + subject.referenceCount <= Self.maximumReferenceCount
            {
                forget(subject)
                begin(subject)
            }
        }
        startTurn()
    }

    /// Looks up the subject that has been without a place for longest.
    mutating func takeTurn() {
        guard let subject = longestResting() else { return turn = nil }
        turn = startTimer(max(Self.shortestTurn, Self.maximumRestTime / resting.count), for: .turn)
        renew(subject)
    }

    /// Looks up resting subjects for a new subscriber. It may have a reason to ask, such as a lost connection, and the
    /// known state may be stale.
    mutating func renewAll() {
        for (subject, _) in resting.sorted(by: { $0.value < $1.value }).prefix(Self.maximumRenewedCount) {
            renew(subject)
        }
    }

    /// Queues a resting subject for another lookup.
    mutating func renew(_ subject: Subject) {
        guard resting.removeValue(forKey: subject) != nil else { return }
        setPending(subject)
        repeated.append(subject)
    }

    /// Removes a subject from the list that contains it.
    mutating func forget(_ subject: Subject) {
        if resting.removeValue(forKey: subject) != nil { return }
        for list in [\Self.open, \.fresh, \.repeated] {
            guard let index = self[keyPath: list].firstIndex(of: subject) else { continue }
            self[keyPath: list].remove(at: index)
            return
        }
    }

    /// The next subject that may have a place: a new one, or one that is looked up again.
    private func nextPending() -> Subject? {
        if let subject = fresh.first { return subject }
        guard open.count(where: isRetry) >= Self.maximumRetryCount else { return repeated.first }
        return repeated.first { !isRetry($0) }
    }

    private func longestResting() -> Subject? { resting.min { $0.value < $1.value }?.key }

    /// Whether the subject's lookups have failed since it was last found.
    private func isRetry(_ subject: Subject) -> Bool {
        switch subject {
        case .service(let instance): hasFailed(instance)
        case .host(let name): hosts[name]?.instances.allSatisfy(hasFailed) ?? false
        }
    }

    private func hasFailed(_ instance: ServiceInstance) -> Bool { entries[instance]?.failures ?? 0 > 0 }

    /// Closes answered lookups to make room for another one. It closes none if there would not be enough room.
    private mutating func makeRoom(for subject: Subject) -> Bool {
        var excess = references.count + subject.referenceCount - Self.maximumReferenceCount
        var leaving: [Subject] = []
        for answered in open where excess > 0 && isAnswered(answered) {
            leaving.append(answered)
            excess -= answered.referenceCount
        }
        guard excess <= 0 else { return false }
        leaving.forEach { rest($0) }
        return true
    }

    private func isAnswered(_ subject: Subject) -> Bool {
        switch subject {
        case .service(let instance): if case .watching = entries[instance]?.lookup { true } else { false }
        case .host(let name): if case .watching = hosts[name]?.lookup { true } else { false }
        }
    }

    private mutating func begin(_ subject: Subject) {
        open.append(subject)
        switch subject {
        case .service(let instance): beginLookup(instance)
        case .host(let name): beginLookup(ofHost: name)
        }
    }

    private mutating func setPending(_ subject: Subject) {
        switch subject {
        case .service(let instance): entries[instance]?.lookup = .pending
        case .host(let name): hosts[name]?.lookup = .pending
        }
    }

    private mutating func rest(_ subject: Subject) {
        forget(subject)
        lastRest += 1
        resting[subject] = lastRest
        switch subject {
        case .service(let instance):
            if case .watching(let id) = entries[instance]?.lookup { close(id) }
            entries[instance]?.lookup = .resting
        case .host(let name):
            hosts[name]?.references.forEach { close($0) }
            hosts[name]?.references = []
            hosts[name]?.lookup = .resting
        }
    }

    private mutating func startTurn() {
        if let turn, resting.isEmpty {
            cancelTimer(turn)
            self.turn = nil
        } else if turn == nil, !resting.isEmpty {
            turn = startTimer(Self.shortestTurn, for: .turn)
        }
    }
}

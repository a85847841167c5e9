import Elemental
import ElementalFollowing
import ElementalSecurity
import Support

/// Finds the one service that a target names.
struct ServiceFinder: Sendable {
    /// How long to wait for further services after the first, before it counts as the only one.
    private static let settlingTime: Duration = .milliseconds(300)

    let service: String
    let name: String?
    let output: OutputOptions

    private struct Search {
        var findings: ServiceFindings
        var match: DiscoveredService?
        var isSettled = false
        var isTimeUp = false
    }

    /// Searches until the service is found, several match, or the time is over.
    ///
    /// - Parameter isFirstEnough: whether the first counts as the only one at once.
    func find(isFirstEnough: Bool = false) async throws -> DiscoveredService {
        let findings = ServiceFindings(service: service, name: name, timeout: output.limit, searchesOthers: true)
        let search = Locked(Search(findings: findings))
        // One pending change stands for all, so that fast events are not queued.
        let (changes, change) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let note = { @Sendable (_ what: (inout Search) -> Void) in
            search.withLock { what(&$0) }
            change.yield()
        }
        let events = try ElementalBrowser(service, logger: output.logger).events()
        let others = try ElementalBrowser(logger: output.logger).events()
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for await event in events { note { $0.match = $0.findings.record(event) ?? $0.match } }
            }
            group.addTask {
                for await event in others { search.withLock { $0.findings.recordOther(event) } }
            }
            group.addTask {
                await Delay.wait(output.limit)
                note { $0.isTimeUp = true }
            }
            defer { group.cancelAll() }
            var isSettling = false
            for await _ in changes {
                let now = search.withLock { search in
                    defer { search.isSettled = false }
                    return search
                }
                if let failure = now.findings.failure { throw failure }
                if let match = now.match, name != nil || isFirstEnough { return match }
                if now.isTimeUp { break }
                if now.isSettled {
                    isSettling = false
                    if let service = try only(of: now.findings) { return service }
                }
                guard name == nil, !isSettling, !now.findings.found.isEmpty else { continue }
                isSettling = true
                group.addTask {
                    await Delay.wait(Self.settlingTime)
                    note { $0.isSettled = true }
                }
            }
            try Task.checkCancellation()
            throw search.withLock { $0.findings.error }
        }
    }

    /// Continues the search after the first service was found.
    ///
    /// - Throws: ``CommandFailure`` with the code `ambiguous` if there are several.
    func checkIsOnly() async throws {
        do {
            try await Interruption.limit(to: Self.settlingTime * 2) { _ = try await find() }
        } catch let failure as CommandFailure where failure.code == Self.ambiguous {
            throw failure
        } catch {}
    }

    private static let ambiguous = "ambiguous"

    /// The only service found, or `nil` if there is none.
    private func only(of findings: ServiceFindings) throws -> DiscoveredService? {
        guard findings.found.count > 1 else { return findings.found.first }
        let names = findings.found.map(\.name)
        throw CommandFailure(
            Self.ambiguous,
            "there are \(names.count) services '\(service)': \(quotedList(names, "and")); choose one, as in "
                + "'\(service)/\(names[0])'")
    }
}

extension ServicePlace {
    /// Finds the service, or the address of the host.
    static func find(_ target: Target, _ state: StateOptions, _ output: OutputOptions) async throws -> ServicePlace {
        try await find(target.followingAlias(state), output)
    }

    private static func find(
        _ target: Target, _ output: OutputOptions, isFirstEnough: Bool = false
    ) async throws -> ServicePlace {
        switch target {
        case .address(let address):
            .address(host: try await LocalHost.address(of: address.host, output), port: address.port)
        case .service(let service, let name):
            .found(
                try await ServiceFinder(service: service, name: name, output: output).find(isFirstEnough: isFirstEnough)
            )
        }
    }

    /// Finds the service, or the address of the host, for a client.
    ///
    /// If the target is any service of a kind, and the user has paired one of that kind, no other service is returned:
    /// the client would use it without encryption, although any program may have published it.
    ///
    /// - Parameters:
    ///   - target: a target that is no longer an alias.
    ///   - isFirstEnough: whether the first service found counts as the only one.
    static func find(
        _ target: Target, for access: ClientAccess, _ output: OutputOptions, isFirstEnough: Bool = false
    ) async throws -> ServicePlace {
        let place = try await find(target, output, isFirstEnough: isFirstEnough)
        guard case .service(let kind, name: nil) = target, let service = place.discovered, let paired = access.paired
        else { return place }
        let peers = try await Blocking.run { try paired.trust.read() }
        let known = peers.services.filter { $0.isService(kind) && !$0.isPending }.map(\.instance)
        guard !known.isEmpty, ServiceStanding(to: service, among: peers, own: paired.identity.fingerprint) == .none
        else { return place }
        let name = place.target.shellArgument
        throw CommandFailure(
            "notPaired",
            "the only service '\(kind)' there is '\(service.name)', which is not paired, while "
                + "\(quotedList(known.sorted(), "and")) \(known.count == 1 ? "is" : "are") and may be switched off; to use "
                + "'\(service.name)' without encryption, name it: \(name); or pair it: elemental pair "
                + "\(name)\(access.pairOptions)")
    }
}

/// Resolves names such as `rover.local` where the system cannot: on Linux it needs nss-mdns.
enum LocalHost {
    /// The name itself if the system resolves it; otherwise the address of an element service on that host.
    static func address(of host: String, _ output: OutputOptions) async throws -> String {
        let name = ComparableName(host.hasSuffix(".") ? String(host.dropLast()) : host).text
        // A system that cannot look up names in .local reports this at once. Otherwise the answer takes as long as on
        // the network.
        guard name.hasSuffix(".local"),
            try await Interruption.limit(to: output.limit, { try await Blocking.run { isKnown(name) } }) != true
        else { return host }
        let events = try ElementalBrowser(logger: output.logger).events()
        let address = try await Interruption.limit(to: output.limit) { () -> String? in
            for await event in events {
                switch event {
                case .found(let service), .updated(let service):
                    if service.hostName.isSameName(as: name), let address = service.addresses.first { return address }
                case .failed(let error, _): throw error
                case .gone, .unresolved: break
                }
            }
            return nil
        }
        guard let address = address ?? nil else {
            throw CommandFailure(
                "hostNotFound",
                "the system does not know the host '\(host)', and no element service of it was found within "
                    + "\(output.limit); to resolve names in .local install libnss-mdns, or give an address")
        }
        return address
    }

    private static func isKnown(_ name: String) -> Bool {
        var result: UnsafeMutablePointer<addrinfo>?
        defer { if let result { freeaddrinfo(result) } }
        return getaddrinfo(name, nil, nil, &result) == 0
    }
}

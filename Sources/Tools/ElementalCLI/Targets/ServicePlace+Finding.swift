import Elemental
import ElementalFollowing
import ElementalSecurity
import Support

extension ServicePlace {
    /// Finds the service, or the address of the host.
    static func find(_ target: Target, _ state: StateOptions, _ output: OutputOptions) async throws -> ServicePlace {
        try await find(target.followingAlias(state), output)
    }

    private static func find(_ target: Target, _ output: OutputOptions) async throws -> ServicePlace {
        switch target {
        case .address(let address):
            .address(host: try await LocalHost.address(of: address.host, output), port: address.port)
        case .service(let service, let name):
            .found(try await ServiceFinder(service: service, name: name, output: output).find())
        }
    }

    /// Finds the service, or the address of the host, for a client.
    ///
    /// Who asks for any service of a kind and has paired one of that kind gets no other: it would be spoken to without
    /// encryption, whoever published it.
    static func find(_ target: Target, for access: ClientAccess, _ output: OutputOptions) async throws -> ServicePlace {
        var target = target
        if let state = access.aliases { target = try await target.followingAlias(state, paired: access.paired) }
        let place = try await find(target, output)
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

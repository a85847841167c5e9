import Elemental
import Support

/// Resolves names such as `rover.local` where the system cannot: on Linux it needs nss-mdns.
enum LocalHost {
    /// The name itself if the system resolves it; otherwise the address of an element service on that host.
    static func address(of host: String, _ output: OutputOptions) async throws -> String {
        let name = ComparableName(host.hasSuffix(".") ? String(host.dropLast()) : host).text
        // A name in .local that it cannot look up it does not know at once; otherwise it is as fast as the network.
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

internal import NIOCore
import NIOHTTP1
internal import Support

/// Decides which requests a server answers, by the requested host and the page that sends them. It checks every
/// request, including those for WebSockets.
///
/// A page whose domain name resolves to this machine (DNS rebinding) has an Origin equal to its Host: only the list of
/// hosts keeps it out. Browsers send Sec-Fetch-Site only to loopback and https, so the rules do not rely on it.
struct AccessRules {
    private let scheme: String
    /// The server's port; `nil` before it listens.
    private var port: Int?
    private var hosts: Set<WebHost>
    private let publicOrigin: WebOrigin?
    private let acceptsNoHost: Bool
    private var own: OwnAddresses?

    init(_ options: WebServerOptions) {
        acceptsNoHost = options.acceptsNoHost
        publicOrigin = options.publicOrigin
        scheme = options.tls == nil ? "http" : "https"
        hosts = Set(options.hosts.compactMap { WebHost(option: $0) })
        hosts.formUnion(["localhost", "127.0.0.1", "[::1]"].compactMap { WebHost($0) })
        guard options.acceptsOwnAddresses else { return }
        own = OwnAddresses()
        if let name = HostName.known { hosts.formUnion([name, name + ".local"].compactMap { WebHost($0) }) }
    }

    mutating func listen(at address: IPAddress?, port: Int) {
        self.port = port
        guard own == nil, let address else { return }
        if address.isWildcard { own = OwnAddresses() } else { hosts.insert(.address(address)) }
    }

    /// - Parameter isForPage: whether only the server's own page or a program has a reason to request this.
    mutating func refusal(of head: HTTPRequestHead, isForPage: Bool, at now: NIODeadline) -> WebResponse? {
        let asked = head.headers["host"]
        // Every browser sends a Host, so this request comes from no page.
        if acceptsNoHost, asked.isEmpty, head.headers["origin"].isEmpty { return nil }
        guard asked.count == 1, let authority = WebAuthority(asked[0][...]) else {
            return WebResponse(status: 400, "The request has no valid Host.")
        }
        guard publicOrigin?.isAsked(by: authority) == true || isOwn(authority, at: now) else {
            return WebResponse(status: 421, "This server does not answer to that host and port.")
        }
        let origins = head.headers["origin"]
        guard origins.isEmpty || (origins.count == 1 && isOwn(origin: origins[0], at: now)) else {
            return WebResponse(status: 403, "Pages of other servers have no access.")
        }
        if isForPage, head.headers["sec-fetch-site"].contains(where: { $0.lowercased() == "cross-site" }) {
            return WebResponse(status: 403, "Pages of other servers have no access.")
        }
        return nil
    }

    private mutating func isOwn(origin: String, at now: NIODeadline) -> Bool {
        if let publicOrigin, let origin = WebOrigin(origin), origin == publicOrigin { return true }
        let prefix = scheme + "://"
        guard origin.utf8.count > prefix.utf8.count, origin.prefix(prefix.count).lowercased() == prefix,
            let authority = WebAuthority(origin.dropFirst(prefix.count))
        else { return false }
        return isOwn(authority, at: now)
    }

    private mutating func isOwn(_ authority: WebAuthority, at now: NIODeadline) -> Bool {
        guard authority.port ?? (scheme == "http" ? 80 : 443) == port else { return false }
        if hosts.contains(authority.host) { return true }
        guard case .address(let address) = authority.host else { return false }
        return own?.contains(address, at: now) ?? false
    }
}

/// The addresses of this machine's interfaces. They can change, so an unknown address causes another look-up, at most
/// once a second.
struct OwnAddresses {
    private var known: Set<IPAddress> = []
    private var nextLook = NIODeadline.uptimeNanoseconds(0)
    private let look: () -> [SocketAddress]

    init(look: @escaping () -> [SocketAddress] = { (try? System.enumerateDevices())?.compactMap(\.address) ?? [] }) {
        self.look = look
    }

    mutating func contains(_ address: IPAddress, at now: NIODeadline) -> Bool {
        guard !known.contains(address), nextLook <= now else { return known.contains(address) }
        nextLook = now + .seconds(1)
        known = Set(look().compactMap { IPAddress($0) })
        return known.contains(address)
    }
}

import CDNSSD

/// The four calls that make a reference. Each blocks while it talks to the daemon.
///
/// Flags are always 0: Avahi answers Unsupported to any other.
enum ServiceRequest: Sendable {
    case register(name: String, type: ServiceType, port: Int, txt: [UInt8], reach: ServiceReach)
    case browse(type: ServiceType, domain: String)
    case resolve(ServiceInstance)
    case addresses(host: String, family: NetworkAddress.Family)

    /// Whether the request looks up one service or host. There can be many such requests.
    var isLookup: Bool {
        switch self {
        case .register, .browse: false
        case .resolve, .addresses: true
        }
    }

    var label: String {
        switch self {
        case .register: "zeroconf.register"
        case .browse: "zeroconf.browse"
        case .resolve: "zeroconf.resolve"
        case .addresses: "zeroconf.addresses"
        }
    }

    func open(_ reference: inout DNSServiceRef?, context: UnsafeMutableRawPointer) -> DNSServiceErrorType {
        let anyInterface = UInt32(kDNSServiceInterfaceIndexAny)
        switch self {
        case .register(let name, let type, let port, let txt, let reach):
            return DNSServiceRegister(
                &reference, 0, reach.interface, name, type.description, "local.", nil, UInt16(port).bigEndian,
                UInt16(txt.count), txt, ServiceCallbacks.register, context)
        case .browse(let type, let domain):
            return DNSServiceBrowse(
                &reference, 0, anyInterface, type.description, domain, ServiceCallbacks.browse, context)
        case .resolve(let instance):
            return DNSServiceResolve(
                &reference, 0, anyInterface, instance.name, instance.type.description, instance.domain,
                ServiceCallbacks.resolve, context)
        case .addresses(let host, let family):
            let type = UInt16(family == .ipv4 ? kDNSServiceType_A : kDNSServiceType_AAAA)
            return DNSServiceQueryRecord(
                &reference, 0, anyInterface, host, type, UInt16(kDNSServiceClass_IN), ServiceCallbacks.query, context)
        }
    }
}

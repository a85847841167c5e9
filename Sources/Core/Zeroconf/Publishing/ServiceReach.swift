import CDNSSD

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Where a service is published.
public enum ServiceReach: Sendable, Hashable {
    /// On every interface.
    case network
    /// To programs of this machine only, for a port that is open on loopback. With Avahi that is the loopback
    /// interface, which Avahi uses unless it is configured otherwise.
    case machine

    /// `kDNSServiceInterfaceIndexLocalOnly`, which Avahi refuses.
    private static var localOnly: UInt32 { .max }

    /// The interface's index, as `DNSServiceRegister` takes it.
    var interface: UInt32 {
        switch self {
        case .network: UInt32(kDNSServiceInterfaceIndexAny)
        case .machine:
            #if canImport(Darwin)
            Self.localOnly
            #else
            // Without such an interface publishing fails. 0 would be all interfaces.
            if_nametoindex("lo") == 0 ? Self.localOnly : if_nametoindex("lo")
            #endif
        }
    }
}

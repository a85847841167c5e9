internal import NIOCore

/// Addresses of this machine.
package enum OwnAddress {
    /// The address by which others most likely reach this machine: the first IPv4 one of an interface that is not
    /// loopback, or else an IPv6 one that is not link-local; `nil` if there is neither.
    package static var reachable: String? {
        let addresses = ((try? System.enumerateDevices()) ?? []).compactMap(\.address).filter {
            IPAddress($0)?.isLoopback == false
        }
        let v4 = addresses.first { $0.protocol == .inet }
        let v6 = addresses.first { $0.protocol == .inet6 && $0.ipAddress?.hasPrefix("fe80") == false }
        return (v4 ?? v6)?.ipAddress
    }
}

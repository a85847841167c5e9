/// The addresses of one host, as the answers to its A and AAAA queries add and remove them.
///
/// Avahi reports each answer once per interface and per protocol on which it arrived, so the answers are counted.
struct HostAddresses: Sendable {
    /// More than any real host has. Further addresses are dropped, so that an attacker cannot fill the memory.
    private static let most = 64

    private var counts: [NetworkAddress: Int] = [:]

    var isEmpty: Bool { counts.isEmpty }

    /// Whether there are addresses of both families, so that waiting can end.
    var hasBothFamilies: Bool {
        counts.keys.contains { $0.family == .ipv4 } && counts.keys.contains { $0.family == .ipv6 }
    }

    /// Applies one answer.
    ///
    /// - Returns: whether ``sorted`` may have changed.
    mutating func apply(isAdded: Bool, interface: UInt32, data: [UInt8]) -> Bool {
        guard let address = NetworkAddress(bytes: data, interfaceIndex: interface) else { return false }
        let count = counts[address] ?? 0
        if isAdded {
            guard count > 0 || counts.count < Self.most else { return false }
            counts[address] = count + 1
            return count == 0
        }
        counts[address] = count > 1 ? count - 1 : nil
        return count == 1
    }

    /// The addresses, each once, in the order in which to try them.
    var sorted: [NetworkAddress] {
        var seen: Set<String> = []
        return counts.keys.sorted().filter { seen.insert($0.presentation).inserted }
    }
}

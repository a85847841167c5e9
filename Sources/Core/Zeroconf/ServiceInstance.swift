import Support

/// One service on the network: its name, type and domain. They identify it; resolving it gives its host and port.
public struct ServiceInstance: Hashable, Sendable, CustomStringConvertible {
    /// The name that users see, such as "Rover": 1 to 63 bytes of UTF-8.
    public let name: String
    /// The type.
    public let type: ServiceType
    /// The domain in lower case with a dot at its end, usually `local.`.
    public let domain: String

    /// Creates an instance; `local`, `Local.` and the empty string all mean `local.`.
    public init(name: String, type: ServiceType, domain: String = "local.") {
        self.name = name
        self.type = type
        let lowercased = ComparableName(domain).text
        if lowercased.isEmpty || lowercased == "." {
            self.domain = "local."
        } else {
            self.domain = lowercased.hasSuffix(".") ? lowercased : lowercased + "."
        }
    }

    /// Whether both are the same instance to DNS, which ignores the case of ASCII letters in names.
    public static func == (one: ServiceInstance, other: ServiceInstance) -> Bool {
        one.name.isSameName(as: other.name) && one.type == other.type && one.domain == other.domain
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ComparableName(name))
        hasher.combine(type)
        hasher.combine(domain)
    }

    /// The name in quotes, the type and the domain, such as `"Rover"._robot._tcp.local.`
    public var description: String { "\"\(name)\".\(type).\(domain)" }
}

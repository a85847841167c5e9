/// What else happens while round trips are measured. It takes a bench service.
package enum Load: String, Sendable, CaseIterable {
    /// Values of 1 MiB stream over the same connection to the service, as fast as it takes them.
    case large
    /// 100 other connections of this process send 120 vectors a second each over UDP, as devices that tell their motion
    /// do.
    case motion

    /// Round trips begin when the load has lasted so long.
    static let leadTime: Duration = .milliseconds(300)
}

/// A load during the measurement of round trips. It needs a bench service.
package enum Load: String, Sendable, CaseIterable {
    /// Values of 1 MiB stream over the same connection to the service, as fast as it accepts them.
    case large
    /// 100 other connections of this process send 120 vectors a second each over UDP, as devices that send their
    /// motion do.
    case motion

    /// How long the load runs before round trips begin.
    static let leadTime: Duration = .milliseconds(300)
}

/// The clocks of histories.
package struct HistoryClock: Sendable {
    /// Microseconds since the machine was started.
    package let time: @Sendable () -> Int64
    /// Microseconds from ``time`` to those since 1970; 0 if nothing keeps the time of day right.
    package let anchor: @Sendable () -> Int64
    /// Tells a start of the machine from others: 16 bytes.
    package let start: [UInt8]

    package init(
        time: @escaping @Sendable () -> Int64, anchor: @escaping @Sendable () -> Int64, start: [UInt8]
    ) {
        (self.time, self.anchor, self.start) = (time, anchor, start)
    }
}

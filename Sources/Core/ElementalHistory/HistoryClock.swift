/// The clocks of histories.
package struct HistoryClock: Sendable {
    /// Microseconds since the machine was started.
    package let time: @Sendable () -> Int64
    /// Microseconds to add to ``time`` for the time since 1970; 0 if the time of day is not synchronised.
    package let anchor: @Sendable () -> Int64
    /// Identifies this boot of the machine: 16 bytes.
    package let start: [UInt8]

    package init(
        time: @escaping @Sendable () -> Int64, anchor: @escaping @Sendable () -> Int64, start: [UInt8]
    ) {
        (self.time, self.anchor, self.start) = (time, anchor, start)
    }
}

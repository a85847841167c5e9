/// Runs a Commodore 64 at its own speed: called every few milliseconds, it runs the cycles that are due.
package struct RealTimePacer {
    /// The maximum time, in seconds, that the machine catches up after the processor was busy elsewhere. The machine
    /// loses the rest instead of running fast.
    private static let maximumLag = 0.1

    private var startTime: ContinuousClock.Instant
    private var startCycle: UInt64

    /// Creates a pacer. The machine's current cycle count belongs to this moment.
    package init(_ machine: Commodore64) {
        startTime = .now
        startCycle = machine.cycle
    }

    /// Runs the machine up to the present.
    ///
    /// - Parameter limit: a cycle count to stop at; `nil` for none.
    package mutating func run(_ machine: Commodore64, until limit: UInt64? = nil) {
        let now = ContinuousClock.now
        let frequency = Double(machine.standard.cyclesPerSecond)
        var due = startTime.duration(to: now) / .seconds(1) * frequency - Double(machine.cycle - startCycle)
        let most = Self.maximumLag * frequency
        if due > most {
            due = most
            startTime = now
            startCycle = machine.cycle + UInt64(most)
        }
        if let limit { due = min(due, Double(limit) - Double(machine.cycle)) }
        machine.run(cycles: Int(due))
    }
}

/// What is known of another machine's clock and of this machine's time of day at one moment. The times of day that one
/// reading gives have the order and the distances of the other clock's times; those of several readings need not.
package struct ClockReading {
    let clock: KnownClock
    /// Nanoseconds from this machine's clock to those since 1970.
    let day: Int64

    /// Seconds since 1970, in whole microseconds.
    ///
    /// - Parameter time: microseconds of the other clock.
    package func seconds(at time: Int64) -> Double {
        Double((clock.reading.own(of: time * 1000).time &+ day) / 1000) / 1_000_000
    }

    /// Whether both can be true of the same clock.
    package func agrees(with other: ClockReading) -> Bool {
        let now = MachineClock.time
        let (offset, error) = clock.reading.offset(at: now)
        let (otherOffset, otherError) = other.clock.reading.offset(at: now)
        return abs(Double(offset) - Double(otherOffset)) <= Double(error) + Double(otherError)
    }
}

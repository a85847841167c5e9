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

    /// Whether this reading gives a value the time with which it was received, within the errors of both. It does not after
    /// the other machine has started anew, or after this machine's time of day was set.
    ///
    /// - Parameter time: microseconds of the other clock.
    package func agrees(with received: ReceivedTime, at time: Int64) -> Bool {
        let error = Duration.nanoseconds(clock.reading.own(of: time * 1000).error) + received.error
        return abs(seconds(at: time) - received.secondsHere) <= error / .seconds(1)
    }
}

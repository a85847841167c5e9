/// A reading of the peer's clock and of this machine's time of day at one moment. Times of day that are converted with
/// one reading keep the order and the distances of the peer's times; with several readings they may not.
package struct ClockReading {
    let clock: KnownClock
    /// Nanoseconds to add to this machine's clock for the time since 1970.
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

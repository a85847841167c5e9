import Elemental
import Support

/// Sends the numbered messages of a run, as fast as the connection accepts them or at a rate.
struct NumberedSender<Value: NumberedValue>: Sendable {
    let device: ElementalDevice
    let element: Element<Value>
    /// The bytes of each message's value.
    let byteCount: Int
    /// Messages a second; `nil` for as many as possible.
    var rate: Double?

    /// Bytes between two readings of the clock.
    private static var turnByteCount: Int { 4096 }

    /// Sends messages numbered from 0.
    ///
    /// - Parameter limit: returns the number of messages at which to stop, given the time of ``MonotonicClock``; `.max`
    ///   to go on.
    /// - Returns: the number of messages sent.
    func send(run: UInt32, until limit: @Sendable (_ now: UInt64) -> UInt64) async throws(ElementalError) -> UInt64 {
        let start = MonotonicClock.nanoseconds
        let turn = UInt64(max(1, Self.turnByteCount / byteCount))
        var number = MessageNumber(run: run)
        var messages = MessageRotation<Value>(
            number, byteCount: byteCount, queueByteCount: device.limits.readyQueueByteCount)
        while true {
            if Task.isCancelled { throw ElementalError(.cancelled, "the run was cancelled") }
            let now = MonotonicClock.nanoseconds
            let end = limit(now)
            let due = rate.map { min(end, UInt64(MonotonicClock.seconds(from: start, to: now) * $0) + 1) } ?? end
            if number.sequence >= end { return number.sequence }
            if number.sequence < due {
                try sendBurst(&messages, &number, upTo: min(due, number.sequence + turn))
                try await device.waitForRoom(for: byteCount)
            } else if let rate {
                // Waiting for less than a timer's resolution would only slow down, so these messages are sent together.
                let next = Double(number.sequence) / rate - MonotonicClock.seconds(from: start, to: now)
                await Delay.wait(.seconds(min(max(0.001, next), 0.1)))
            }
        }
    }

    /// Sends without suspending; separate from the loop above because a function that never suspends keeps its state in
    /// registers. It ends early if the queue is full.
    private func sendBurst(
        _ messages: inout MessageRotation<Value>, _ number: inout MessageNumber, upTo end: UInt64
    ) throws(ElementalError) {
        do throws(ElementalError) {
            while number.sequence < end {
                try device.send(messages.message(number), to: element)
                number = number.next
            }
        } catch {
            guard error.code == .queueFull else { throw error }
        }
    }
}

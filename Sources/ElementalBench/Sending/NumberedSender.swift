import Elemental

/// Sends the numbered messages of a run, as many as the connection takes or at a rate.
struct NumberedSender<Value: NumberedValue>: Sendable {
    /// When it is enough.
    enum Limit: Sendable {
        /// After so many messages.
        case count(UInt64)
        /// At that time of ``MonotonicClock``, in nanoseconds.
        case time(UInt64)
        /// When that is raised.
        case flag(StopFlag)
    }

    let device: ElementalDevice
    let element: Element<Value>
    /// The bytes of each message's value.
    let byteCount: Int
    /// Messages a second; `nil` for as many as possible.
    var rate: Double?

    /// Bytes between two looks at the clock.
    private static var turnByteCount: Int { 4096 }

    /// Sends messages numbered from 0.
    ///
    /// - Returns: how many.
    func send(run: UInt32, until limit: Limit) async throws(ElementalError) -> UInt64 {
        let start = MonotonicClock.nanoseconds
        let turn = UInt64(max(1, Self.turnByteCount / byteCount))
        var number = MessageNumber(run: run)
        var message = Value(number, byteCount: byteCount)
        while true {
            if Task.isCancelled { throw ElementalError(.cancelled, "the run was cancelled") }
            let now = MonotonicClock.nanoseconds
            let end = Self.end(limit, now)
            let due = rate.map { min(end, UInt64(MonotonicClock.seconds(from: start, to: now) * $0) + 1) } ?? end
            if number.sequence >= end { return number.sequence }
            if number.sequence < due {
                let hasRoom = try sendBurst(&message, &number, upTo: min(due, number.sequence + turn))
                if !hasRoom { try await device.waitForRoom() }
            } else if let rate {
                // Waiting for less than a timer can tell would only slow down: those messages go together.
                let next = Double(number.sequence) / rate - MonotonicClock.seconds(from: start, to: now)
                await Delay.wait(.seconds(min(max(0.001, next), 0.1)))
            }
        }
    }

    /// The number of messages at which it is enough, as far as is known now.
    private static func end(_ limit: Limit, _ now: UInt64) -> UInt64 {
        switch limit {
        case .count(let count): count
        case .time(let time): now < time ? .max : 0
        case .flag(let flag): flag.isRaised ? 0 : .max
        }
    }

    /// Sends without a wait, apart from the loop above since a function that never waits keeps its state in registers.
    ///
    /// - Returns: whether the queue had room for all.
    private func sendBurst(
        _ message: inout Value, _ number: inout MessageNumber, upTo end: UInt64
    ) throws(ElementalError) -> Bool {
        do throws(ElementalError) {
            while number.sequence < end {
                message.number = number
                try device.send(message, to: element)
                number = number.next
            }
            return true
        } catch {
            guard error.code == .queueFull else { throw error }
            return false
        }
    }
}

import ElementalWire
import Support

// What the user writes goes out in rounds: the newest value of each element that has one, then a ping. When the pong is
// there, the service has dealt with the values, and its refusals have arrived: so it is known which value was refused, and a
// service that is slow, or far away, gets fewer values and none that is old.
extension ObservedDevice {
    /// How long a service may take to say hello before it counts as an older one, which never does.
    private static let helloTime = Duration.seconds(2)

    func write(_ value: ElementValue, to element: ElementDefinition) {
        let cell = cell(element)
        do throws(ElementalError) {
            try ElementalDevice.checkSetting(cell.definition, to: value)
        } catch {
            return cell.reject(error)
        }
        switch now {
        case .ended, .failed: return cell.reject(Self.ended(now))
        case .connecting, .connected, .reconnecting: break
        }
        writeCount += 1
        cell.write(value, number: writeCount)
        send()
    }

    /// Sends what has yet to be sent, unless a round is under way.
    func send() {
        guard !isRoundUnderWay, now.isConnected, let device, device.isConnected else { return }
        let cells = cells.values.filter { $0.unsent != nil }.sorted { $0.writeNumber < $1.writeNumber }
        var hasSent = false
        for cell in cells {
            guard let value = cell.unsent else { continue }
            do throws(ElementalError) {
                try device.send(value, to: cell.definition)
                cell.noteSent()
                hasSent = true
            } catch {
                // Otherwise the connection has just been lost, which an event will say.
                if error.code != .notConnected { cell.putBack(.notSent(error)) }
            }
        }
        if hasSent { beginRound(device) }
        // Those that rest while others are moved, too.
        settle()
    }

    /// Waits until the service has dealt with what was sent.
    ///
    /// - Parameter isConnection: whether the connection was just made. A service that is used by host and port says hello
    ///   after that, if it does.
    func beginRound(_ device: ElementalDevice, isConnection: Bool = false) {
        guard !isRoundUnderWay else { return }
        isRoundUnderWay = true
        let mayGreet = isConnection && place.discovered?.saysHello != false
        Task { [weak self, timeout = options.timeout] in
            let isAnswered = await ObservedDevice.waitForAnswer(of: device, mayGreet: mayGreet, within: timeout)
            self?.endRound(isAnswered)
        }
    }

    private func endRound(_ isAnswered: Bool) {
        takeAnswers()
        isRoundUnderWay = false
        if let device { noteElements(of: device) }
        for cell in cells.values { if isAnswered { cell.noteAnswered() } else { cell.noteLost() } }
        // Lost, and restored already.
        if !isAnswered, now.isConnected, let device, device.isConnected {
            return beginRound(device, isConnection: true)
        }
        send()
    }

    /// Takes what the service has said about the values that were sent. It changes nothing that is shown but what is refused:
    /// the rest waits for the next frame.
    private func takeAnswers() {
        guard let device else { return }
        let ids = cells.values.filter(\.isMoved).map(\.definition.id)
        let (changed, refusals) = inbox.look { arrivals in
            defer { arrivals.refusals = [:] }
            let changed = ids.filter(arrivals.changed.contains)
            for id in changed { arrivals.changed.remove(id) }
            return (changed, arrivals.refusals)
        }
        for id in changed { noteSaid(id, by: device) }
        for (id, refusal) in refusals { cells[id]?.noteRefused(refusal) }
    }

    /// - Returns: `false` if the connection was lost meanwhile. A peer that answers no pings, or not in time, counts as one
    ///   that has dealt with what was sent: nothing more will be known.
    private nonisolated static func waitForAnswer(
        of device: ElementalDevice, mayGreet: Bool, within timeout: Duration
    ) async -> Bool {
        do throws(ElementalError) {
            if device.hello == nil, mayGreet { _ = try? await device.catalogue(timeout: helloTime) }
            // An unsent `latest` value would be overtaken by the ping.
            try await device.waitUntilSent()
            guard device.hello?.features.contains(.ping) == true else { return true }
            _ = try await device.ping(timeout: timeout)
            return true
        } catch {
            return error.code != .notConnected
        }
    }

    /// Lets what the service says move the controls that rest.
    private func settle() {
        guard settling == nil else { return }
        let now = ContinuousClock.now
        let next = cells.values.compactMap { $0.settle(at: now, hold: pace.hold) }.min()
        guard let next else { return }
        settling = Task { [weak self] in
            await Delay.wait(next - now)
            self?.settling = nil
            self?.settle()
        }
    }
}

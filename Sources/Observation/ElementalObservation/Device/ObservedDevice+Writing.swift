import ElementalWire
import Support

// The user's values are sent in rounds: the newest value of each element that has one, then a ping. When the pong
// arrives, the service has handled the values, and its refusals have arrived. So it is known which value was refused,
// and a slow or distant service gets fewer values and no stale ones.
extension ObservedDevice {
    /// How long to wait for a service's hello before it counts as an older one, which sends none.
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

    /// Sends the unsent values, unless a round is in progress.
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
                // With `notConnected` the connection has just been lost, which an event reports.
                if error.code != .notConnected { cell.putBack(.notSent(error)) }
            }
        }
        if hasSent { beginRound(device) }
        // Some controls may rest while others are moving.
        settle()
    }

    /// Waits until the service has handled what was sent.
    ///
    /// - Parameter isConnection: whether the connection was just opened. A service that is given by host and port may
    ///   still send its hello then.
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
        // The connection was lost, and is already restored.
        if !isAnswered, now.isConnected, let device, device.isConnected {
            return beginRound(device, isConnection: true)
        }
        send()
    }

    /// Takes the service's answers to the values that were sent. Only refused values change what is shown; the rest
    /// waits for the next frame.
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

    /// - Returns: `false` if the connection was lost in the meantime. For a peer that answers no pings, or too late,
    ///   the values count as handled, since nothing more will be known.
    private nonisolated static func waitForAnswer(
        of device: ElementalDevice, mayGreet: Bool, within timeout: Duration
    ) async -> Bool {
        do throws(ElementalError) {
            if device.hello == nil, mayGreet { _ = try? await device.catalogue(timeout: helloTime) }
            // The ping would overtake an unsent `latest` value.
            try await device.waitUntilSent()
            guard device.hello?.features.contains(.ping) == true else { return true }
            _ = try await device.ping(timeout: timeout)
            return true
        } catch {
            return error.code != .notConnected
        }
    }

    /// Lets the service's values move the controls that rest.
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

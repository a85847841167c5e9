import ElementalWire
import Support

// What the user writes goes out in rounds: the newest value of each element that has one, then a ping. When the pong is
// there, the service has dealt with the values, and its refusals have arrived: so it is known which value was refused, and a
// service that is slow, or far away, gets fewer values and none that is old.
extension ObservedDevice {
    func write(_ value: ElementValue, to element: ElementDefinition) {
        let cell = cell(element)
        do throws(ElementalError) {
            try ElementalDevice.checkSetting(element, to: value)
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
        guard !isRoundUnderWay, now.isConnected, let device = link.device, device.isConnected else { return }
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
                if error.code != .notConnected { cell.noteNotSent(error) }
            }
        }
        if hasSent { beginRound(device) } else { settle() }
    }

    /// Waits until the service has dealt with what was sent.
    func beginRound(_ device: ElementalDevice) {
        guard !isRoundUnderWay else { return }
        isRoundUnderWay = true
        Task { [weak self] in
            let isAnswered = await ObservedDevice.waitForAnswer(of: device)
            self?.endRound(isAnswered)
        }
    }

    private func endRound(_ isAnswered: Bool) {
        takeArrivals()
        isRoundUnderWay = false
        for cell in cells.values { if isAnswered { cell.noteAnswered() } else { cell.noteLost() } }
        // Lost, and restored already.
        if !isAnswered, now.isConnected, let device = link.device, device.isConnected { return beginRound(device) }
        send()
    }

    /// - Returns: `false` if the connection was lost meanwhile. A peer that answers no pings, or not in time, counts as one
    ///   that has dealt with what was sent: nothing more will be known.
    private nonisolated static func waitForAnswer(of device: ElementalDevice) async -> Bool {
        do throws(ElementalError) {
            // An unsent `latest` value would be overtaken by the ping.
            try await device.waitUntilSent()
            guard device.hello?.features.contains(.ping) == true else { return true }
            _ = try await device.ping()
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

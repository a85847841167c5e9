import Elemental
import Support

/// A bench service's broadcasts: numbered values to all devices, from when a device requests them until it stops them or
/// disconnects.
final class Broadcasts: Sendable {
    private let ends = Locked<[ElementalDevice: StopFlag]>([:])

    func attach(to service: ElementalService) {
        service.onValue(of: BenchElements.broadcast) { [self, weak service] request, device in
            end(device)
            let allowed = BenchElements.minimumByteCount...BenchElements.maximumByteCount
            guard let service, let byteCount = request.byteCount, allowed.contains(byteCount) else { return }
            let isOver = StopFlag()
            ends.withLock { $0[device] = isOver }
            Task {
                let sent =
                    byteCount == BenchElements.minimumByteCount
                    ? await Self.send(request.run, byteCount, BenchElements.broadcastNumber, service, isOver)
                    : await Self.send(request.run, byteCount, BenchElements.broadcastData, service, isOver)
                let report = BroadcastReport(run: request.run, sent: sent)
                guard let json = try? JSON(report) else { return }
                try? await device.sendWhenReady(json, to: BenchElements.broadcastReport)
            }
        }
        service.onEvent { [self] event in
            if case .deviceDisconnected(let device, _) = event { end(device) }
        }
    }

    private func end(_ device: ElementalDevice) { ends.withLock { $0.removeValue(forKey: device) }?.raise() }

    /// Sends values numbered from 0 to all devices, as fast as the slowest accepts them.
    ///
    /// - Returns: how many.
    private static func send<Value: NumberedValue>(
        _ run: UInt32, _ byteCount: Int, _ element: Element<Value>, _ service: ElementalService, _ isOver: StopFlag
    ) async -> UInt64 {
        var number = MessageNumber(run: run)
        var message = Value(number, byteCount: byteCount)
        while !isOver.isRaised {
            message.number = number
            guard let failures = try? service.send(message, to: element) else { break }
            // The others have it already. Devices whose queue was full get it now, before anyone gets the next value.
            for failure in failures where failure.error.code == .queueFull {
                try? await failure.device.sendWhenReady(message, to: element)
            }
            number = number.next
        }
        return number.sequence
    }
}

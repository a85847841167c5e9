import Elemental
import Support

/// A bench service's broadcasts: numbered values to all devices, from when a device requests them until it stops them or
/// disconnects.
final class Broadcasts: Sendable {
    /// Bytes that are sent between two checks of the queues.
    private static let turnByteCount = 4096

    private let senders = Locked<[ElementalDevice: Task<UInt64, Never>]>([:])

    func attach(to service: ElementalService) {
        service.onValue(of: BenchElements.broadcast) { [self, weak service] request, device in
            end(device)
            let allowed = BenchElements.minimumByteCount...BenchElements.maximumByteCount
            guard let service, let byteCount = request.byteCount, allowed.contains(byteCount) else { return }
            let sender = Task {
                byteCount == BenchElements.minimumByteCount
                    ? await Self.send(request.run, byteCount, BenchElements.broadcastNumber, service)
                    : await Self.send(request.run, byteCount, BenchElements.broadcastData, service)
            }
            senders.withLock { $0[device] = sender }
            Task {
                let report = BroadcastReport(run: request.run, sent: await sender.value)
                guard let json = try? JSON(report) else { return }
                try? await device.sendWhenReady(json, to: BenchElements.broadcastReport)
            }
        }
        service.onEvent { [self] event in
            if case .deviceDisconnected(let device, _) = event { end(device) }
        }
    }

    private func end(_ device: ElementalDevice) { senders.withLock { $0.removeValue(forKey: device) }?.cancel() }

    /// Sends values numbered from 0 to all devices, as fast as the slowest accepts them.
    ///
    /// - Returns: how many.
    private static func send<Value: NumberedValue>(
        _ run: UInt32, _ byteCount: Int, _ element: Element<Value>, _ service: ElementalService
    ) async -> UInt64 {
        var number = MessageNumber(run: run)
        var message = Value(number, byteCount: byteCount)
        let turn = UInt64(max(1, turnByteCount / byteCount))
        while !Task.isCancelled {
            guard let late = sendBurst(&message, &number, upTo: number.sequence + turn, element, service) else { break }
            // The other devices have the value. Those whose queue was full get it now, before any device gets the next value.
            for device in late {
                // The value was counted, so a task of its own sends it even if the run is over by now.
                await Task { [message] in try? await device.sendWhenReady(message, to: element) }.value
            }
            guard (try? await service.waitForRoom(for: byteCount)) != nil else { break }
        }
        return number.sequence
    }

    /// Sends without suspending, until `end` or until a device's queue is full.
    ///
    /// - Returns: the devices that lack the last message; `nil` if nothing can be sent.
    private static func sendBurst<Value: NumberedValue>(
        _ message: inout Value, _ number: inout MessageNumber, upTo end: UInt64, _ element: Element<Value>,
        _ service: ElementalService
    ) -> [ElementalDevice]? {
        while number.sequence < end {
            message.number = number
            guard let failures = try? service.send(message, to: element) else { return nil }
            number = number.next
            if failures.isEmpty { continue }
            let late = failures.filter { $0.error.code == .queueFull }.map(\.device)
            if !late.isEmpty { return late }
        }
        return []
    }
}

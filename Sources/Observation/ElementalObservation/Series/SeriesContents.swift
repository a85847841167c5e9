import ElementalFollowing
import ElementalWire
import Support

/// The values that a series has gathered. The main actor takes the points.
struct SeriesContents: Sendable {
    private(set) var decimation: Decimation
    private(set) var isKept: Bool?
    /// Where the history continues after a reconnection.
    private var position: HistoryPosition?
    /// In microseconds.
    private let span: Int64

    init(over span: Duration, maximumCount: Int) {
        decimation = Decimation(maximumCount: maximumCount)
        self.span = max(0, span.nanoseconds / 1000)
    }

    private var beginning: HistoryBeginning {
        if let position { return .position(position) }
        return .time(MeasurementTime(microseconds: MeasurementTime.now.microseconds.clampedSum(-span)))
    }

    private mutating func take(_ item: HistoryItem<ElementValue>) {
        isKept = true
        switch item {
        case .gap: decimation.interrupt()
        case .value(let value):
            position = value.position
            add(value.value, measured: value.time)
        }
    }

    private mutating func add(_ value: ElementValue, measured: ReceivedTime?) {
        guard let numbers = value.plottedNumbers else { return }
        let now = MeasurementTime.now
        decimation.add(numbers, at: min(measured?.time ?? now, now).microseconds)
        decimation.removeAll(before: now.microseconds.clampedSum(-span))
    }

    /// Adds the element's values until the task is cancelled or the device has ended.
    static func fill(
        _ inbox: Inbox<SeriesContents>, _ element: ElementDefinition, of device: ElementalDevice
    ) async {
        guard element.plottedCount != nil else { return }
        do throws(ElementalError) {
            let history = device.anyHistory(of: element, from: inbox.look { $0.beginning })
            for try await item in history { inbox.put { $0.take(item) } }
        } catch {
            // The service keeps no values, keeps none for this client, or does not support times.
            guard error.code == .notAllowed || error.code == .timedOut else { return }
            await fillWithoutHistory(inbox, element, of: device)
        }
    }

    private static func fillWithoutHistory(
        _ inbox: Inbox<SeriesContents>, _ element: ElementDefinition, of device: ElementalDevice
    ) async {
        inbox.put { contents in
            contents.isKept = false
            contents.decimation.interrupt()
        }
        let events = device.events()
        // Runs on the event loop, where the newest value is the one that has arrived.
        let take: @Sendable () -> Void = { [weak device] in
            guard let device, let value = device.value(of: element) else { return }
            let time = device.time(of: element)
            inbox.put { $0.add(value, measured: time) }
        }
        let registration = device.onArrival(of: element.id, perform: take, registered: take)
        for await event in events {
            if case .willReconnect = event { inbox.put { $0.decimation.interrupt() } }
        }
        registration.cancel()
    }
}

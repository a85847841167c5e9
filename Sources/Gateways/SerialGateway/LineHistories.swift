import Elemental
import ElementalSecurity
import NIOCore

/// The histories of the device on a line. Used on the line's event loop only.
///
/// They are opened one at a time when a device has introduced itself, and replaced when another device does.
final class LineHistories {
    private struct Wish {
        let folder: String
        let elements: ElementCatalogue
        let done: (SecurityError?) -> Void
    }

    private let configuration: DeviceHistories
    private let eventLoop: any EventLoop
    private var current: (folder: String, histories: ServiceHistories)?
    private var isOpening = false
    private var wish: Wish?
    private var timer: Scheduled<Void>?

    init(_ configuration: DeviceHistories, on eventLoop: any EventLoop) {
        (self.configuration, self.eventLoop) = (configuration, eventLoop)
    }

    /// Returns the elements of the service: the device's, with times and a history if clients can read them.
    func elements(of device: ElementCatalogue) -> ElementCatalogue { configuration.elements(of: device) }

    /// The histories of a device's service; `nil` if they are not open.
    func opened(_ service: String, _ displayName: String) -> ServiceHistories? {
        guard let current, current.folder == DeviceHistories.folder(of: service, displayName) else { return nil }
        return current.histories
    }

    /// Opens the histories of a device, and calls `done` with the reason if they are in memory only. An earlier call
    /// that is not done is dropped.
    func open(
        _ service: String, _ displayName: String, for device: ElementCatalogue, done: @escaping (SecurityError?) -> Void
    ) {
        wish = Wish(
            folder: DeviceHistories.folder(of: service, displayName), elements: elements(of: device), done: done)
        timer?.cancel()
        timer = eventLoop.assumeIsolated().scheduleTask(in: configuration.openingTime) { [weak self] in self?.giveUp() }
        openNext()
    }

    /// Releases the histories. A service that still runs keeps its own until it ends.
    func stop() {
        timer?.cancel()
        wish = nil
        current = nil
    }

    private func openNext() {
        guard !isOpening, let wish else { return }
        isOpening = true
        current = nil
        let (folder, elements) = (wish.folder, wish.elements)
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        Task { [configuration, eventLoop] in
            let (histories, failure) = await configuration.open(folder, for: elements)
            eventLoop.execute { bound.value.opened(folder, histories, failure) }
        }
    }

    private func opened(_ folder: String, _ histories: ServiceHistories, _ failure: SecurityError?) {
        isOpening = false
        guard let wish else {
            // Too late for this publication of the device, and in time for the next.
            if current?.folder == folder { current = (folder, histories) }
            return
        }
        current = (folder, histories)
        guard wish.folder == folder else { return openNext() }
        end(wish, failure)
    }

    /// Keeps the values in memory, because the disk may never answer.
    private func giveUp() {
        guard let wish else { return }
        current = (wish.folder, ServiceHistories())
        let seconds = configuration.openingTime.nanoseconds / 1_000_000_000
        end(wish, SecurityError(.inputOutput, "its files could not be opened within \(seconds) s; check the disk"))
    }

    private func end(_ wish: Wish, _ failure: SecurityError?) {
        timer?.cancel()
        self.wish = nil
        wish.done(failure)
    }
}

/// Values that a device sends while its histories are opened, with their times.
struct EarlyValues {
    static let maximumByteCount = 64 * 1024

    private(set) var values: [(id: Int8, bytes: [UInt8], time: MeasurementTime)] = []
    private var byteCount = 0

    /// - Parameter bytes: valid only during the call.
    /// - Returns: whether there was room.
    mutating func add(_ id: Int8, _ bytes: UnsafeRawBufferPointer) -> Bool {
        byteCount += bytes.count + MemoryLayout<(Int8, [UInt8], MeasurementTime)>.stride
        guard byteCount <= Self.maximumByteCount else { return false }
        values.append((id, Array(bytes), .now))
        return true
    }
}

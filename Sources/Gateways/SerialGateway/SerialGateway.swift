public import Elemental
import NIOCore
import NIOPosix
import SerialLines
import Support

/// Publishes the device on a serial line, a microcontroller with `ElementalMicro`, as a service with its own elements.
///
/// ```swift
/// let gateway = SerialGateway(line: .serial(path: "/dev/serial/by-id/usb-Raspberry_Pi_Pico_E660-if00"))
/// try await gateway.run()
/// ```
/// The service appears and disappears with the device. A lost line is reopened.
public final class SerialGateway: Sendable {
    private let line: SerialLine
    private let configuration: SerialGatewayConfiguration
    private let eventLoop: any EventLoop
    private let events = EventHub<SerialGatewayEvent>()

    /// Creates a gateway whose line is not open yet.
    ///
    /// - Parameters:
    ///   - line: the line to the device.
    ///   - configuration: how its service is published.
    public init(line: SerialLine, configuration: SerialGatewayConfiguration = SerialGatewayConfiguration()) {
        self.line = line
        self.configuration = configuration
        eventLoop = configuration.service.eventLoopGroup.next()
    }

    /// Calls `handler` with every event of the gateway, on its event loop. It must not block.
    @discardableResult
    public func onEvent(_ handler: @escaping @Sendable (SerialGatewayEvent) -> Void) -> HandlerRegistration {
        HandlerRegistration(events.addEventHandler(handler))
    }

    /// Opens the line, and publishes the devices that appear on it until the task is cancelled or a service group shuts it
    /// down gracefully.
    ///
    /// - Throws: ``SerialGatewayError`` if the line cannot be opened, `ElementalError` if a service cannot start.
    public func run() async throws { try await run { try await $0.run() } }

    /// Does the same as ``run()`` for a program that runs the services itself.
    ///
    /// - Parameter host: publishes a service and serves its clients until its task is cancelled, because the device is
    ///   gone. If it ends before that, the gateway ends too.
    public func run(host: @escaping @Sendable (ElementalService) async throws -> Void) async throws {
        let line = try await line.place.open(on: eventLoop)
        let (changes, change) = AsyncStream.makeStream(of: ElementalService?.self, bufferingPolicy: .bufferingNewest(1))
        let device = await eventLoop.run { [eventLoop, configuration, events] in
            let device = DeviceService(line.value, configuration, on: eventLoop) { event in
                switch event {
                case .deviceAppeared(let service): change.yield(service)
                case .deviceGone: change.yield(nil)
                default: break
                }
                events.emit(event)
            }
            device.start()
            return NIOLoopBound(device, eventLoop: eventLoop)
        }
        let running = Locked<Task<Void, any Error>?>(nil)
        await untilGracefulShutdown {
            for await service in changes {
                let old = running.withLock { $0 }
                old?.cancel()
                // If the old service failed before it was cancelled, the gateway ends too.
                if case .failure = await old?.result { return }
                guard let service else { continue }
                let task = Task {
                    defer { if !Task.isCancelled { change.finish() } }
                    do { try await host(service) } catch { if !Task.isCancelled { throw error } }
                }
                running.withLock { $0 = task }
            }
        }
        let last = running.withLock { $0 }
        last?.cancel()
        let result = await last?.result
        await eventLoop.run { device.value.stop() }
        try result?.get()
    }
}

/// How a gateway publishes the device on its line.
public struct SerialGatewayConfiguration: Sendable {
    /// The name of the service; `nil` for the device's own.
    public var serviceName: String?
    /// The instance name, which users see; `nil` for the device's own, or for the host's and the line's names if it has
    /// none.
    public var displayName: String?
    /// Whether a device that was away receives the newest values that clients set. If `false`, a motor does not start
    /// by itself after a reset.
    public var restores = false
    /// The histories that the gateway keeps for its devices; `nil` for none.
    public var histories: DeviceHistories?
    /// How long a service stays published without its device, so that a reset does not disconnect its clients.
    public var absence: Duration = .seconds(3)
    /// How the service listens, publishes and limits its clients.
    public var service = ServiceConfiguration()

    /// The defaults: the device's own names, nothing restored or kept, three seconds of absence.
    public init() {}
}

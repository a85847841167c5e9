import Logging
import NIOCore

/// Hands on what a browser tells of the services of one name, on an event loop, until it is let go.
final class ServiceWatch {
    private let task: Task<Void, Never>

    /// - Parameter handler: called on the event loop, on which this is called too.
    init(
        _ service: String, logger: Logger, on eventLoop: any EventLoop,
        _ handler: @escaping (ElementalBrowser.Event) -> Void
    ) {
        let handler = NIOLoopBound(handler, eventLoop: eventLoop)
        task = Task {
            do {
                for await event in try ElementalBrowser(service, logger: logger).events() {
                    eventLoop.execute { handler.value(event) }
                }
            } catch {
                logger.warning("cannot look for the service", metadata: ["service": "\(service)", "error": "\(error)"])
            }
        }
    }

    deinit { task.cancel() }
}

import Logging
import NIOCore
import Support

/// Delivers a browser's events about the services of one name on an event loop, until it is released.
///
/// All watches of a name share a browser: separate ones would cost each disconnected device up to four threads and
/// D-Bus connections, of which a user may have 256.
final class ServiceWatch {
    private struct WeakBrowser {
        weak var browser: ElementalBrowser?
    }

    /// By the services' name, for as long as there are watches.
    private static let browsers = Locked<[ComparableName: WeakBrowser]>([:])

    private let task: Task<Void, Never>

    /// - Parameter handler: called on the event loop. The initializer must be called on it too.
    init(
        _ service: String, logger: Logger, on eventLoop: any EventLoop,
        _ handler: @escaping (ElementalBrowser.Event) -> Void
    ) {
        let handler = NIOLoopBound(handler, eventLoop: eventLoop)
        let browser = Self.browser(for: service, logger)
        task = Task {
            do {
                for await event in try browser.events() { eventLoop.execute { handler.value(event) } }
            } catch {
                logger.warning("cannot look for the service", metadata: ["service": "\(service)", "error": "\(error)"])
            }
        }
    }

    deinit { task.cancel() }

    private static func browser(for service: String, _ logger: Logger) -> ElementalBrowser {
        browsers.withLock { browsers in
            let key = ComparableName(service)
            if let browser = browsers[key]?.browser { return browser }
            let browser = ElementalBrowser(service, logger: logger)
            browsers = browsers.filter { $0.value.browser != nil }
            browsers[key] = WeakBrowser(browser: browser)
            return browser
        }
    }
}

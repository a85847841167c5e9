import Logging
import Support
import Zeroconf

/// A service's two listings: under its own type, where older programs look, and under the framework's common type.
final class Publication: Sendable {
    private let service: ElementalService.Shared
    private let listener: Listener
    private let own: ServicePublisher
    private let common = Locked<ServicePublisher?>(nil)
    private let publishedName = Locked<String?>(nil)
    private let watching = Locked<Task<Void, Never>?>(nil)

    init(_ service: ElementalService.Shared, _ listener: Listener) throws(ElementalError) {
        self.service = service
        self.listener = listener
        do {
            own = try ServicePublisher(
                name: service.displayName, type: try .tcp(service.name), port: listener.port,
                txt: try service.txtRecord(instanceName: nil), logger: service.configuration.logger)
        } catch {
            throw ElementalError(.invalidValue, "the service cannot be published: \(error.message)", cause: nil)
        }
    }

    func start() {
        let events = own.events()
        watching.withLock {
            $0 = Task { [weak self] in
                for await event in events {
                    guard let self else { return }
                    handle(event)
                }
            }
        }
        own.start()
    }

    /// Updates both listings, or throws and leaves both as they are.
    func updateTXT() throws(ElementalError) {
        do {
            let txt = try service.txtRecord(instanceName: nil)
            // The larger record first: if that one fits, the other one does.
            let name = publishedName.withLock { $0 }
            if let name { try common.withLock({ $0 })?.update(txt: service.txtRecord(instanceName: name)) }
            try own.update(txt: txt)
        } catch {
            throw ElementalError(.invalidValue, "the TXT record cannot be published: \(error.message)")
        }
    }

    func stop() async {
        let common = common.withLock { $0.take() }
        async let gone: Void? = common?.stop()
        await own.stop()
        _ = await gone
        watching.withLock { $0?.cancel() }
    }

    private func handle(_ event: ServicePublisher.Event) {
        switch event {
        case .published(let name), .renamed(_, let name):
            publishCommon(name)
            emit(.published(name: name))
        case .failed(let error, let delay):
            let error = ElementalError(.discoveryFailed, error.message, cause: error.cause)
            emit(.failedToPublish(error, retryIn: delay))
        }
    }

    private func emit(_ event: ServiceEvent) { listener.execute { $0.service.events.emit(event) } }

    /// The common listing uses the name that the service's own listing got. If it fails, the service is still found by
    /// its own type, and the publisher keeps retrying.
    private func publishCommon(_ name: String) {
        publishedName.withLock { $0 = name }
        do {
            let txt = try service.txtRecord(instanceName: name)
            let current = common.withLock { $0 }
            if let current { return try current.update(txt: txt) }
            let publisher = try ServicePublisher(
                name: ServiceTXT.commonName(service: service.name, instance: name), type: ServiceTXT.commonType(),
                port: listener.port, txt: txt, logger: service.configuration.logger)
            common.withLock { $0 = publisher }
            publisher.start()
        } catch {
            service.configuration.logger.warning(
                "not listed among all element services", metadata: ["error": "\(error.message)"])
        }
    }
}

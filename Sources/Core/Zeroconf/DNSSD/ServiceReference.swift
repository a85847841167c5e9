import CDNSSD
import Dispatch
import Support

/// A DNSServiceRef and everything that belongs to it: its queue, the read source of its descriptor, the context of its
/// callbacks.
///
/// Everything that touches the library runs on the reference's own serial queue, because all of it can block; the queues
/// of lookups share two threads. The one way to end it is ``close(_:)``: the read source is cancelled, and its cancel
/// handler deallocates the reference and then releases the context. An open reference keeps itself alive, so its owner
/// must close it.
final class ServiceReference: Sendable {
    /// The resources of an open reference.
    ///
    /// `@unchecked Sendable` because it is made, used and freed on the serial queue of one ServiceReference only; the
    /// mutex around it merely hands it from one block of that queue to the next.
    private struct Resources: @unchecked Sendable {
        let pointer: DNSServiceRef
        let source: any DispatchSourceRead
        let context: Unmanaged<CallbackContext>
    }

    private enum Phase {
        case new
        case open(Resources)
        case closed
    }

    private struct State {
        var phase = Phase.new
        var isCloseRequested = false
        var closeHandlers: [@Sendable () -> Void] = []
    }

    private let queue: DispatchQueue
    private let request: ServiceRequest
    private let deliver: @Sendable (ReferenceEvent) -> Void
    private let state = Locked(State())

    /// The target queues of all lookups of the process, which are brief unless the daemon hangs. Without them, each
    /// lookup that begins or ends would block its own thread.
    private static let lookupQueues = (0..<2).map { _ in DispatchQueue(label: "zeroconf.lookups") }
    private static let lookupCount = Locked(0)

    private static func lookupQueue() -> DispatchQueue {
        let number = lookupCount.withLock { count in
            count &+= 1
            return count
        }
        return lookupQueues[number % lookupQueues.count]
    }

    /// Refers to a symbol of the C target, so that the linker keeps its constructor.
    private static let isLibraryPrepared = cdnssd_is_prepared()

    /// - Parameter deliver: called on the reference's queue, never after ``close(_:)`` was called.
    init(_ request: ServiceRequest, deliver: @escaping @Sendable (ReferenceEvent) -> Void) {
        self.request = request
        self.deliver = deliver
        queue = DispatchQueue(label: request.label, target: request.isLookup ? Self.lookupQueue() : nil)
    }

    /// Makes the reference; `.opened` or `.openingFailed` follows.
    func open() {
        queue.async { self.openOnQueue() }
    }

    /// Changes the TXT record of a registration; `.failed` follows if the library refuses it.
    func updateTXT(_ bytes: [UInt8]) {
        queue.async {
            guard case .open(let resources) = self.state.withLock({ $0.phase }) else { return }
            let code = DNSServiceUpdateRecord(resources.pointer, nil, 0, UInt16(bytes.count), bytes, 0)
            if code != DNSServiceErrorType(kDNSServiceErr_NoError) {
                self.report(.failed(DNSServiceError(rawValue: code)))
            }
        }
    }

    /// Ends the reference; may be called more than once.
    ///
    /// - Parameter completion: runs on the reference's queue once the library has released everything.
    func close(_ completion: @escaping @Sendable () -> Void) {
        state.withLock {
            $0.isCloseRequested = true
            $0.closeHandlers.append(completion)
        }
        queue.async { self.closeOnQueue() }
    }

    private func report(_ event: ReferenceEvent) {
        if !state.withLock({ $0.isCloseRequested }) {
            deliver(event)
        }
    }

    private func openOnQueue() {
        guard Self.isLibraryPrepared, !state.withLock({ $0.isCloseRequested }) else { return }
        let context = Unmanaged.passRetained(CallbackContext { [self] in report($0) })
        var pointer: DNSServiceRef?
        let code = request.open(&pointer, context: context.toOpaque())
        guard code == DNSServiceErrorType(kDNSServiceErr_NoError), let pointer else {
            context.release()
            return report(.openingFailed(DNSServiceError(rawValue: code)))
        }
        let source = DispatchSource.makeReadSource(fileDescriptor: DNSServiceRefSockFD(pointer), queue: queue)
        source.setEventHandler { self.serve() }
        source.setCancelHandler { self.free() }
        let resources = Resources(pointer: pointer, source: source, context: context)
        state.withLock { $0.phase = .open(resources) }
        source.activate()
        report(.opened)
    }

    /// Runs the callbacks of one wake-up.
    ///
    /// With Avahi, ProcessResult on a descriptor that is not readable waits for ever and holds the lock that the
    /// library's own thread needs. So this polls the descriptor first, and calls ProcessResult only once.
    private func serve() {
        guard case .open(let resources) = state.withLock({ $0.phase }), !resources.source.isCancelled else {
            return
        }
        guard Poll.one(DNSServiceRefSockFD(resources.pointer), for: POLLIN, timeout: 0) != 0 else { return }
        let code = DNSServiceProcessResult(resources.pointer)
        if code != DNSServiceErrorType(kDNSServiceErr_NoError) {
            // The descriptor may stay readable for ever now, so stop watching it at once.
            resources.source.cancel()
            report(.failed(DNSServiceError(rawValue: code)))
        }
    }

    private func closeOnQueue() {
        switch state.withLock({ $0.phase }) {
        case .new:
            state.withLock { $0.phase = .closed }
            runCloseHandlers()
        case .open(let resources):
            resources.source.cancel()
        case .closed:
            runCloseHandlers()
        }
    }

    private func free() {
        guard case .open(let resources) = state.withLock({ $0.phase }) else { return }
        state.withLock { $0.phase = .closed }
        DNSServiceRefDeallocate(resources.pointer)
        resources.context.release()
        runCloseHandlers()
    }

    private func runCloseHandlers() {
        let handlers = state.withLock { state in
            defer { state.closeHandlers = [] }
            return state.closeHandlers
        }
        for handler in handlers {
            handler()
        }
    }
}

import CDNSSD

/// The arguments of a dns_sd callback, copied out of the library's memory.
enum ServiceReply: Sendable {
    case registered(name: String)
    case browsed(isAdded: Bool, interface: UInt32, name: String, domain: String)
    case resolved(interface: UInt32, host: String, port: Int, txt: [UInt8])
    case record(isAdded: Bool, interface: UInt32, data: [UInt8])
}

/// An event that a reference reports to its owner, on the reference's own queue.
enum ReferenceEvent: Sendable {
    /// The call that made the reference returned without error.
    case opened
    /// A callback ran.
    case reply(ServiceReply)
    /// The call that makes the reference returned an error; there is no reference.
    case openingFailed(DNSServiceError)
    /// A callback or reading the descriptor returned an error. The reference is unusable: close it.
    case failed(DNSServiceError)
}

/// The context pointer of the library's callbacks: receives their results.
///
/// Retained once for the library when a reference is opened, and released after the reference is deallocated.
final class CallbackContext: Sendable {
    private let deliver: @Sendable (ReferenceEvent) -> Void

    init(deliver: @escaping @Sendable (ReferenceEvent) -> Void) {
        self.deliver = deliver
    }

    static func deliver(
        _ error: DNSServiceErrorType, to context: UnsafeMutableRawPointer?, _ reply: () -> ServiceReply?
    ) {
        guard let context else { return }
        let target = Unmanaged<CallbackContext>.fromOpaque(context).takeUnretainedValue()
        guard error == DNSServiceErrorType(kDNSServiceErr_NoError) else {
            return target.deliver(.failed(DNSServiceError(rawValue: error)))
        }
        if let reply = reply() {
            target.deliver(.reply(reply))
        }
    }
}

/// The functions that the library calls. After an error only the code and the context are valid (dns_sd.h).
enum ServiceCallbacks {
    static let register: DNSServiceRegisterReply = { _, _, error, name, _, _, context in
        CallbackContext.deliver(error, to: context) { name.map { .registered(name: String(cString: $0)) } }
    }

    static let browse: DNSServiceBrowseReply = { _, flags, interface, error, name, _, domain, context in
        CallbackContext.deliver(error, to: context) {
            guard let name, let domain else { return nil }
            let isAdded = flags & DNSServiceFlags(kDNSServiceFlagsAdd) != 0
            return .browsed(
                isAdded: isAdded, interface: interface, name: String(cString: name), domain: String(cString: domain))
        }
    }

    static let resolve: DNSServiceResolveReply = { _, _, interface, error, _, host, port, size, txt, context in
        CallbackContext.deliver(error, to: context) {
            guard let host else { return nil }
            var bytes = txt.map { Array(UnsafeBufferPointer(start: $0, count: Int(size))) } ?? []
            #if os(Linux)
            bytes = TXTRecord.reversingStrings(in: bytes)
            #endif
            // The port is in network order, in Avahi too.
            let port = Int(UInt16(bigEndian: port))
            return .resolved(interface: interface, host: String(cString: host), port: port, txt: bytes)
        }
    }

    static let query: DNSServiceQueryRecordReply = { _, flags, interface, error, _, _, _, size, data, _, context in
        CallbackContext.deliver(error, to: context) {
            let bytes = data.map { Array(UnsafeRawBufferPointer(start: $0, count: Int(size))) } ?? []
            let isAdded = flags & DNSServiceFlags(kDNSServiceFlagsAdd) != 0
            return .record(isAdded: isAdded, interface: interface, data: bytes)
        }
    }
}

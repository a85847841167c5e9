internal import NIOCore
internal import NIOFoundationEssentialsCompat
internal import Support
internal import WebServer

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The WebSockets of OSCQuery: programs that subscribe to values and changes of the tree. It belongs to the bridge's
/// event loop.
final class QueryListeners {
    enum Change: String {
        case added = "PATH_ADDED"
        case removed = "PATH_REMOVED"
    }

    private struct Command: Decodable {
        // The keys of OSCQuery.
        let COMMAND: String
        let DATA: String
    }

    /// The maximum number of addresses that a program can listen to: as many as can exist.
    static let mostAddresses = 32_768

    private var listeners: [UInt64: QueryListener] = [:]
    /// The number of listeners of each address.
    private var counts: [String: Int] = [:]

    var count: Int { listeners.count }

    func hasProgram(of host: IPAddress) -> Bool { listeners.values.contains { $0.host == host } }

    func listens(to address: String) -> Bool { counts[address] != nil }

    func add(_ listener: QueryListener) {
        listeners[listener.id] = listener
        listener.onWritable = { [weak self, weak listener] in
            if let self, let listener { catchUp(listener) }
        }
    }

    func isWritable(_ id: UInt64) { listeners[id]?.note(isWritable: true) }

    func remove(_ id: UInt64) {
        for address in listeners.removeValue(forKey: id)?.addresses ?? [] { drop(address) }
    }

    /// Handles a message of a program.
    ///
    /// - Parameter isThere: whether an element has that address.
    func receive(_ text: ByteBuffer, from id: UInt64, _ isThere: (String) -> Bool) {
        guard let listener = listeners[id] else { return }
        // Ignores messages of extensions that HOST_INFO does not list; their data have other types.
        guard let command = try? JSONDecoder().decode(Command.self, from: Data(buffer: text)) else { return }
        let address = QueryTree.withoutSlashes(command.DATA)
        switch command.COMMAND {
        case "LISTEN":
            guard isThere(address), listener.addresses.count < Self.mostAddresses,
                listener.addresses.insert(address).inserted
            else { return }
            counts[address, default: 0] += 1
        case "IGNORE":
            if listener.addresses.remove(address) != nil { drop(address) }
            listener.missed[address] = nil
        default: break
        }
    }

    private func drop(_ address: String) {
        guard let count = counts[address] else { return }
        counts[address] = count > 1 ? count - 1 : nil
    }

    /// - Parameter isMoved: whether a surface on that host moves the element; its listeners receive the value
    ///   afterwards.
    func tell(_ address: String, _ message: ByteBuffer, isMoved: (IPAddress) -> Bool) {
        guard counts[address] != nil else { return }
        let frame = EncodedFrame(binary: message)
        for listener in listeners.values where listener.addresses.contains(address) {
            if listener.isWritable, !isMoved(listener.host) {
                listener.send(frame)
            } else {
                listener.missed[address] = message
            }
        }
    }

    /// - Parameter isKnown: whether the element's final value is the one that was sent from that host.
    func rest(_ address: String, _ host: IPAddress, isKnown: Bool) {
        guard counts[address] != nil else { return }
        for listener in listeners.values where listener.host == host {
            if isKnown { listener.missed[address] = nil } else { catchUp(listener) }
        }
    }

    private func catchUp(_ listener: QueryListener) {
        while listener.isWritable, let (address, message) = listener.missed.popFirst() {
            _ = address
            listener.send(EncodedFrame(binary: message))
        }
    }

    /// Notifies all programs that an address was added or removed.
    func tell(_ change: Change, _ address: String) {
        guard !listeners.isEmpty else { return }
        let text = JSONText.object([("COMMAND", .string(change.rawValue)), ("DATA", .string(address))]).text
        let frame = EncodedFrame(text: ByteBuffer(string: text))
        for listener in listeners.values { listener.send(frame) }
    }

    /// Removes the listeners of these addresses.
    func forget(_ addresses: [String]) {
        for address in addresses where counts.removeValue(forKey: address) != nil {
            for listener in listeners.values {
                listener.addresses.remove(address)
                listener.missed[address] = nil
            }
        }
    }
}

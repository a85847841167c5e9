import Support

/// Why a connection ended.
public struct DisconnectReason: Sendable, CustomStringConvertible {
    /// The kind of ending. More may be added; give a `switch` a default.
    public enum Kind: Sendable, Hashable {
        /// This program closed the connection.
        case closedHere
        /// The peer closed the connection without giving a reason.
        case closedByPeer
        /// The service announced that it is shutting down, with this text.
        case shutDown(String)
        /// Nothing was received in the time allowed; the text says what was expected.
        case timedOut(String)
        /// The peer violated the wire protocol; the text says how.
        case protocolViolation(String)
        /// A limit of this program on its connections was reached; the text says which.
        case limitReached(String)
        /// This program and the service define an element differently; the text names it.
        case catalogueMismatch(String)
        /// The service sent a catalogue that cannot be decoded, and this program has no elements of its own; the text
        /// says what is wrong with it.
        case invalidCatalogue(String)
        /// The service was paired, or paired for a higher role, during the connection. A connection that uses the
        /// pairing replaces it.
        case pairingChanged
        /// The network failed; the text says how.
        case networkError(String)
        /// The connecting or serving task was cancelled.
        case cancelled
    }

    /// The kind of ending.
    public let kind: Kind
    /// Whether one of the ends requested it: this program closed the connection or was cancelled, the service shut
    /// down, or a client left a service. A service that vanishes without notice is unexpected.
    public let isExpected: Bool

    /// - Parameter isExpected: `nil` to derive it from the kind.
    package init(_ kind: Kind, isExpected: Bool? = nil) {
        self.kind = kind
        self.isExpected =
            switch kind {
            case .closedHere, .shutDown, .pairingChanged, .cancelled: isExpected ?? true
            default: isExpected ?? false
            }
    }

    /// Whether another attempt may succeed: not if this program ended the connection, or the two ends are incompatible.
    var allowsReconnection: Bool {
        switch kind {
        case .closedByPeer, .shutDown, .timedOut, .networkError, .limitReached, .pairingChanged: true
        case .closedHere, .cancelled, .protocolViolation, .catalogueMismatch, .invalidCatalogue: false
        }
    }

    /// The reason in human-readable form, without a full stop. Text from the peer is escaped.
    public var description: String { text.printable }

    private var text: String {
        switch kind {
        case .closedHere: "closed here"
        case .closedByPeer: "closed by the peer"
        case .shutDown(let text): "shut down: \(text)"
        case .timedOut(let text): "timed out: \(text)"
        case .protocolViolation(let text): "protocol violation: \(text)"
        case .limitReached(let text): "limit reached: \(text)"
        case .catalogueMismatch(let text): "different elements at both ends: \(text)"
        case .invalidCatalogue(let text): text
        case .pairingChanged: "its pairing has changed: connecting anew"
        case .networkError(let text): "network error: \(text)"
        case .cancelled: "cancelled"
        }
    }

    /// The kind as one word, for machines: `closedHere`, `closedByPeer`, `shutDown`, `timedOut`, `protocolViolation`,
    /// `limitReached`, `catalogueMismatch`, `invalidCatalogue`, `pairingChanged`, `networkError`, `cancelled`.
    public var code: String {
        switch kind {
        case .closedHere: "closedHere"
        case .closedByPeer: "closedByPeer"
        case .shutDown: "shutDown"
        case .timedOut: "timedOut"
        case .protocolViolation: "protocolViolation"
        case .limitReached: "limitReached"
        case .catalogueMismatch: "catalogueMismatch"
        case .invalidCatalogue: "invalidCatalogue"
        case .pairingChanged: "pairingChanged"
        case .networkError: "networkError"
        case .cancelled: "cancelled"
        }
    }
}

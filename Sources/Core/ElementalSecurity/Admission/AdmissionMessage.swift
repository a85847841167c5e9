import ElementalWire

/// What the two ends of a TLS connection say to each other before the session begins.
///
/// A client opens with one of ``connect``, ``pair``, ``openWindow`` and ``revoke``.
package enum AdmissionMessage: Sendable, Equatable {
    /// Client: wants a session with the service of this name, in this role, under this name of its own.
    case connect(service: String?, role: Role, name: String)
    /// Client: wants to pair with the service of this name; `nil` if it knows only the address.
    case pair(service: String?)
    /// Service: how to pair.
    case offer(PairingOffer)
    /// Client: begins CPace.
    case initiation(PairingInitiation)
    /// Service: its point, the role that it will grant, and its tag.
    case response(PairingResponse)
    /// Client: its tag. It has stored the service's fingerprint.
    case confirmation(tag: [UInt8])
    /// Service: the client is admitted to the service of this name in this role; the session follows.
    case granted(service: String, role: Role)
    /// Client: open a pairing window.
    case openWindow(service: String?, seconds: UInt16, role: Role, kind: PairingSecret.Kind)
    /// Service: the window is open, for this role at most.
    case windowOpened(seconds: UInt16, role: Role, secret: PairingSecret)
    /// Client: withdraw what was granted to a client.
    case revoke(service: String?, Fingerprint)
    /// Service: it is withdrawn; how many clients were paired in windows that the revoked one opened, and the first of them.
    case revoked(pairedCount: UInt16, [PairedName])
    /// Either: no, and why. It closes the connection.
    case refused(AdmissionRefusal)
}

/// The service's offer to pair.
package struct PairingOffer: Sendable, Equatable {
    /// What the client has to enter.
    package var kind: PairingSecret.Kind
    /// How long the window stays open.
    package var seconds: UInt16
    /// The service's name.
    package var service: String
    var nonce: [UInt8]
}

/// The client's half of CPace.
package struct PairingInitiation: Sendable, Equatable {
    var nonce: [UInt8]
    var point: [UInt8]
    var role: Role
    var name: String
}

/// The service's half of CPace.
package struct PairingResponse: Sendable, Equatable {
    var point: [UInt8]
    var role: Role
    var tag: [UInt8]
}

/// A client by name and fingerprint.
package struct PairedName: Sendable, Equatable {
    package let fingerprint: Fingerprint
    /// 1 to 64 bytes, without control characters.
    package let name: String

    package init(fingerprint: Fingerprint, name: String) {
        self.fingerprint = fingerprint
        let name = AdmissionText.fitting(name, byteCount: AdmissionText.maximumNameByteCount)
        self.name = name.isEmpty ? fingerprint.short : name
    }
}

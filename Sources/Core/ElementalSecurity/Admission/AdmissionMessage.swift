import ElementalWire

/// A message between the two ends of a TLS connection before the session begins.
///
/// A client begins with one of ``connect``, ``pair``, ``openWindow`` and ``revoke``.
package enum AdmissionMessage: Sendable, Equatable {
    /// Client: requests a session with the service of this name, in this role; `name` is the client's own.
    case connect(service: String?, role: Role, name: String)
    /// Client: requests pairing with the service of this name; `nil` if the client knows only the address.
    case pair(service: String?)
    /// Service: offers pairing.
    case offer(PairingOffer)
    /// Client: begins CPace.
    case initiation(PairingInitiation)
    /// Service: sends its point, the role that it will grant, and its tag.
    case response(PairingResponse)
    /// Client: sends its tag. It has stored the service's fingerprint.
    case confirmation(tag: [UInt8])
    /// Service: admits the client to the service of this name in this role. The session follows.
    case granted(service: String, role: Role)
    /// Client: requests a pairing window.
    case openWindow(service: String?, seconds: UInt16, role: Role, kind: PairingSecret.Kind)
    /// Service: the window is open, for this role at most.
    case windowOpened(seconds: UInt16, role: Role, secret: PairingSecret)
    /// Client: requests that the access of a client be revoked.
    case revoke(service: String?, Fingerprint)
    /// Service: the client was revoked. `pairedCount` clients were paired in windows that it opened; the names are the
    /// first of them.
    case revoked(pairedCount: UInt16, [PairedName])
    /// Either: refuses with a reason, and closes the connection.
    case refused(AdmissionRefusal)
}

/// The service's offer to pair.
package struct PairingOffer: Sendable, Equatable {
    /// The kind of secret that the user has to enter.
    package var kind: PairingSecret.Kind
    /// The time until the window closes, in seconds.
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

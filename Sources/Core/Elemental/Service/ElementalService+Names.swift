import Zeroconf

extension ElementalService {
    /// Checks whether the service can be published under its names and with its TXT entries, as ``start()`` does,
    /// without publishing it.
    ///
    /// - Throws: ``ElementalError`` with the code ``ElementalError/Code/invalidValue`` and what is allowed.
    public func checkNames() throws(ElementalError) {
        do {
            _ = try ServiceType.tcp(service)
            try ServiceName.check(displayName)
            // The record in the common listing has further entries.
            _ = try shared.txtRecord(instanceName: nil).encoded()
            _ = try shared.txtRecord(instanceName: displayName).encoded()
        } catch {
            throw ElementalError(.invalidValue, error.message)
        }
    }

    /// Checks whether a text is a valid service name, such as `robot`.
    ///
    /// - Throws: ``ElementalError`` with the code ``ElementalError/Code/invalidValue`` and what is allowed.
    package static func check(service: String) throws(ElementalError) {
        do {
            _ = try ServiceType.tcp(service)
        } catch {
            throw ElementalError(.invalidValue, error.message)
        }
    }
}

extension ElementalService.Shared {
    /// The current TXT record.
    ///
    /// - Parameter instanceName: the instance's own name, for the common listing.
    func txtRecord(instanceName: String?) throws(ZeroconfError) -> TXTRecord {
        try ServiceTXT.record(
            txt.withLock { $0 }, service: name, instanceName: instanceName, security: security.withLock { $0 })
    }
}

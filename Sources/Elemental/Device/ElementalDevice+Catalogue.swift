public import ElementalWire

extension ElementalDevice {
    /// The elements that the service tells: names, types and metadata, for untyped use.
    ///
    /// A client asks for them when it connects; this waits until they are here.
    /// - Parameter timeout: how long to wait.
    /// - Throws: ``ElementalError`` with the code ``ElementalError/Code/catalogueUnavailable`` if the service does not
    ///   tell them in time (an older ElementalController never does), or ``ElementalError/Code/notConnected``.
    public func catalogue(timeout: Duration = .seconds(2)) async throws(ElementalError) -> ElementCatalogue {
        _ = await catalogueLatch.wait(timeout, on: eventLoop)
        if let catalogue { return catalogue }
        if let reason = disconnectReason { throw ElementalError(.notConnected, "the connection has ended: \(reason)") }
        if Task.isCancelled { throw ElementalError(.cancelled, "the wait for the catalogue was cancelled") }
        throw ElementalError(
            .catalogueUnavailable,
            hello == nil
                ? "'\(name)' did not tell its elements within \(timeout); it is an older ElementalController or not an "
                    + "element service. Give the elements yourself"
                : "'\(name)' says hello but did not tell its elements within \(timeout)")
    }
}

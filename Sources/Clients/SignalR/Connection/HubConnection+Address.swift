extension HubConnection {
    /// Looks whether a text is the address of a hub, as ``start()`` does, without connecting.
    ///
    /// - Throws: ``SignalRError/Code/invalidURL`` with what an address looks like.
    package static func check(url: String) throws(SignalRError) { _ = try HubAddress(url) }
}

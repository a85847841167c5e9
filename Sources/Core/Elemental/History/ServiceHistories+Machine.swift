public import ElementalHistory
public import ElementalSecurity
public import ElementalWire

extension ServiceHistories {
    /// Creates histories in memory, which end with the program. This is the default of a service.
    public convenience init() { self.init(.machine) }

    /// Creates histories in files, and reads the files.
    ///
    /// ```swift
    /// var configuration = ServiceConfiguration()
    /// configuration.histories = try await ServiceHistories(inFilesOf: "weather", for: Weather.all)
    /// ```
    /// - Parameters:
    ///   - service: the service's name, which is also the folder's: 1 to 63 letters, digits, hyphens and underscores.
    ///   - elements: the service's elements.
    ///   - directory: the directory of identity and trust, by default that of ``SecurityState``. The files are below it
    ///     in `history/SERVICE`, accessible to their owner only, and not encrypted.
    ///   - interval: the minimum time between two syncs to disk. A power failure loses the values since the last one.
    /// - Throws: ``SecurityError`` with the code ``SecurityError/Code/locked`` if another program keeps histories of a
    ///   service of that name, ``SecurityError/Code/insecure`` if others have access to the folder, and other codes for
    ///   errors of the file system.
    public convenience init(
        inFilesOf service: String, for elements: ElementCatalogue, directory: String? = nil,
        interval: Duration = .seconds(10)
    ) async throws(SecurityError) {
        try await self.init(.machine, inFilesOf: service, for: elements, directory: directory, interval: interval)
    }

    /// Removes the stored values of a service's element, or of all its elements.
    ///
    /// - Returns: the names of the elements that had values, and how many bytes those took.
    /// - Throws: ``SecurityError`` with the code ``SecurityError/Code/locked`` while the service runs.
    package static func clear(
        _ service: String, _ element: String?, directory: String?
    ) throws(SecurityError) -> [String: Int] {
        try clear(service, element, directory: directory, .machine)
    }
}

extension HistoryClock {
    static let machine = HistoryClock(
        time: { MachineClock.time / 1000 }, anchor: { MachineClock.now.anchor / 1000 }, start: MachineClock.start)
}

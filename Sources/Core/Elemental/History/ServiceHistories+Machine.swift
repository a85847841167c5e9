public import ElementalHistory
public import ElementalSecurity
public import ElementalWire

extension ServiceHistories {
    /// Histories in memory, which end with the program. This is what a service has that is given none.
    public convenience init() { self.init(.machine) }

    /// Histories in files, which are read now.
    ///
    /// ```swift
    /// var configuration = ServiceConfiguration()
    /// configuration.histories = try await ServiceHistories(inFilesOf: "weather", for: Weather.all)
    /// ```
    /// - Parameters:
    ///   - service: the service's name, which the folder has: 1 to 63 letters, digits, hyphens and underscores.
    ///   - elements: those that the service has.
    ///   - directory: the directory of identity and trust, by default that of ``SecurityState``. The files are below it in
    ///     `history/SERVICE`, for their owner alone, and not encrypted.
    ///   - interval: the least time between two moments at which values are forced onto the disk. A power failure loses those
    ///     that came since.
    /// - Throws: ``SecurityError`` with the code ``SecurityError/Code/locked`` if another program keeps histories of a service of
    ///   that name, ``SecurityError/Code/insecure`` if others have access to the folder, and what the system says of files.
    public convenience init(
        inFilesOf service: String, for elements: ElementCatalogue, directory: String? = nil,
        interval: Duration = .seconds(10)
    ) async throws(SecurityError) {
        try await self.init(.machine, inFilesOf: service, for: elements, directory: directory, interval: interval)
    }

    /// Removes the values that files have of a service's element, or of all its elements.
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

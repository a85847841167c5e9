import Elemental
import ElementalFollowing

/// Keeps the readings of services in the table `readings`, and sets elements from the table `wishes`.
public func bridge(
    _ subjects: [ServiceSubject], to path: String, every interval: Duration = .seconds(1),
    as name: String = "SQLite bridge", connect: ConnectOptions = ConnectOptions()
) async throws {
    let (readings, wishes) = (try Database(path: path), try Database(path: path))
    try readings.run("PRAGMA journal_mode = WAL")
    try readings.run("CREATE TABLE IF NOT EXISTS readings (time, service, instance, element, value)")
    try readings.run("CREATE TABLE IF NOT EXISTS wishes (service, instance, element, value, outcome)")
    var options = FollowerOptions(name: name)
    options.connect.security = connect.security
    options.role = { _ in .control }
    let follower = Follower(subjects, options)
    // Of each element the newest value, at most once an interval: a disk that is slow holds up nobody.
    let values = follower.values(.newest, interval: interval)
    async let following: Void = follower.run()
    async let setting: Void = set(wishes, by: follower)
    for await reading in values {
        try readings.run(
            "INSERT INTO readings VALUES ((julianday('now') - 2440587.5) * 86400, ?, ?, ?, ?)", reading.key.service,
            reading.key.name,
            reading.element.name, reading.value.description)
    }
    _ = try await (following, setting)
}

/// Carries out the wishes that have no outcome yet, and writes it beside each.
private func set(_ database: Database, by follower: Follower) async throws {
    while !Task.isCancelled {
        let rows = try database.run(
            "SELECT rowid, service, instance, element, value FROM wishes WHERE outcome IS NULL LIMIT 100")
        for wish in rows {
            let columns = wish.map { $0 ?? "" }
            let key = ServiceKey(service: wish[1], name: columns[2])
            let outcome = await outcome(of: columns[4], columns[3], key, follower)
            try database.run("UPDATE wishes SET outcome = ? WHERE rowid = ?", outcome, wish[0])
        }
        try? await Task.sleep(for: .milliseconds(200))
    }
}

private func outcome(of text: String, _ element: String, _ key: ServiceKey, _ follower: Follower) async -> String {
    guard let definition = follower.services[key]?.catalogue?[element] else { return "notConnected" }
    guard let value = try? ElementValue(text: text, of: definition) else { return "invalidValue" }
    switch await follower.set(value, of: element, at: key) {
    case .taken: return "taken"
    case .refused(let error): return "\(error.code): \(error.message)"
    case .notConnected: return "notConnected"
    case .timedOut: return "timedOut"
    }
}

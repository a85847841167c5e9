import Elemental
import ElementalFollowing
import ElementalSecurity
import Support
import TestSupport
import Testing

/// Elements that the tests of sessions share.
enum Rover {
    static let speed = Element<Float>(1, "Speed", range: -1...1)
    static let label = Element<String>(2, "Label")
    static let count = Element<UInt32>(3, "Count")
    static let light = Element<Bool>(4, "Light")
    static let all: ElementCatalogue = [speed, label, count]
    /// What a later version of the program has.
    static let newer: ElementCatalogue = [label, Element<Int32>(3, "Count"), light]
}

/// What sessions told, in order.
final class FollowerLog: Sendable {
    private let log = Locked<[FollowerEvent]>([])

    func add(_ event: FollowerEvent) { log.withLock { $0.append(event) } }

    var events: [FollowerEvent] { log.withLock { $0 } }

    /// The states of a service, in a word each; of a refusal its kind. Those that repeat the one before are left out.
    func states(of key: ServiceKey) -> [String] {
        var words: [String] = []
        for case .state(key, let state) in events where words.last != Self.word(state) {
            words.append(Self.word(state))
        }
        return words
    }

    private static func word(_ state: FollowedState) -> String {
        switch state {
        case .connecting: "connecting"
        case .connected: "connected"
        case .away(let problem, _): problem.kind == .turnedAway ? "turnedAway" : "away"
        case .refused(let refusal): "\(refusal.kind)"
        case .gone: "gone"
        }
    }

    /// The values of an element.
    func values(of key: ServiceKey, _ element: some AnyElement) -> [ElementValue] {
        events.compactMap { event in
            if case .value(key, element.definition, let value, _) = event { value } else { nil }
        }
    }

    /// The devices that were connected, and with which elements.
    func connections(of key: ServiceKey) -> [(device: ElementalDevice, catalogue: ElementCatalogue)] {
        events.compactMap { event in
            if case .state(key, .connected(let device, let catalogue)) = event { (device, catalogue) } else { nil }
        }
    }

    func refusals(of key: ServiceKey) -> [FollowingProblem] {
        events.compactMap { if case .state(key, .refused(let refusal)) = $0 { refusal } else { nil } }
    }

    var excesses: [Int] { events.compactMap { if case .tooMany(let count) = $0 { count } else { nil } } }
    var keys: Set<ServiceKey> { Set(events.compactMap(\.key)) }

    /// Waits until a service is in a state, by its word.
    func wait(
        for word: String, of key: ServiceKey, _ count: Int = 1, line: Int = #line,
        isolation: isolated (any Actor)? = #isolation
    ) async throws {
        try await eventually("\(word), \(states(of: key))", line: line) {
            states(of: key).last == word && states(of: key).count { $0 == word } >= count
        }
    }
}

/// Follows services during the body. Nothing is tried again soon by the clock alone: what happens soon was called for.
func withFollower(
    _ subjects: [ServiceSubject], _ change: (inout FollowerOptions) -> Void = { _ in },
    isolation: isolated (any Actor)? = #isolation,
    _ body: (Follower, FollowerLog) async throws -> Void
) async throws {
    var options = FollowerOptions(name: "tester")
    options.connect.timeout = Patience.wait
    options.role = { _ in .control }
    options.keepsLongValuesInDevices = false
    options.firstRetry = .milliseconds(20)
    options.longestRetry = .milliseconds(200)
    options.refusalInterval = .seconds(3600)
    options.trustInterval = .milliseconds(50)
    change(&options)
    let sessions = Follower(subjects, options)
    let log = FollowerLog()
    sessions.onEvent { log.add($0) }
    let running = Task { try await sessions.run() }
    try await carryOut {
        try await body(sessions, log)
    } finally: {
        running.cancel()
        try await running.value
    }
}

/// Follows a service during the body, and stops it.
func follow(
    _ service: ElementalService, _ change: (inout FollowerOptions) -> Void = { _ in },
    isolation: isolated (any Actor)? = #isolation,
    _ body: (ServiceKey, Follower, FollowerLog) async throws -> Void
) async throws {
    let key = service.key
    try await withFollower([service.subject], change) { try await body(key, $0, $1) }
    await service.stop()
}

extension ServiceConfiguration {
    /// Of a service on loopback that is not published.
    static func loopback(port: Int = 0) -> ServiceConfiguration {
        var configuration = ServiceConfiguration()
        configuration.limits.handshakeTimeout = Patience.wait * 9
        configuration.address = "127.0.0.1"
        configuration.isPublished = false
        configuration.port = PortLease.again(port)
        return configuration
    }
}

/// A service on loopback, unpublished, that is started.
func startService(
    _ elements: ElementCatalogue = Rover.all, port: Int = 0, security: ServiceSecurity = .open,
    type: String = "test", name: String = "Rover"
) async throws -> ElementalService {
    var configuration = ServiceConfiguration.loopback(port: port)
    configuration.security = security
    let service = ElementalService(type, displayName: name, elements: elements, configuration: configuration)
    try await service.start()
    return service
}

extension ElementalService {
    var subject: ServiceSubject { .address(host: "127.0.0.1", port: port ?? 0) }
    var key: ServiceKey { ServiceKey(host: "127.0.0.1", port: port ?? 0) }

    /// A device of a program that is connected to it.
    func connect(_ options: ConnectOptions = ConnectOptions()) async throws -> ElementalDevice {
        try await ElementalDevice.connect(
            host: "127.0.0.1", port: try #require(port), as: "tester", elements: elements, options: options)
    }

    /// Opens the pairing window.
    ///
    /// - Returns: what a person would type.
    func code(role: Role = .control) async throws -> String {
        let shown = Locked<String?>(nil)
        let registration = onEvent { event in
            if case .pairing(.opened(let secret, for: _, role: _)) = event { shown.withLock { $0 = secret.text } }
        }
        defer { registration.cancel() }
        try openPairing(role: role)
        try await eventually("a code") { shown.withLock { $0 } != nil }
        return try #require(shown.withLock { $0 })
    }
}

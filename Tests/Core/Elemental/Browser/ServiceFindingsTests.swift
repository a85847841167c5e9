import TestSupport
import Testing
import Zeroconf

@testable import Elemental

/// The findings of a search for a service, and the error if it was not found.
struct ServiceFindingsTests {
    private typealias Event = ElementalBrowser.Event

    private static func service(_ name: String, of type: String = "robot") throws -> DiscoveredService {
        DiscoveredService(
            ResolvedService(
                instance: ServiceInstance(name: name, type: try .tcp(type)), host: "pi.local.", port: 5000,
                txt: TXTRecord(), addresses: []))
    }

    private static let broken = ElementalError(.discoveryFailed, "no daemon")

    @Test
    func theServiceOfThatNameOrAnyIsFound() throws {
        let rover = try Self.service("Rover")
        var named = ServiceFindings(service: "robot", name: "Rover", timeout: .seconds(5))
        #expect(try named.record(.found(Self.service("Spirit"))) == nil)
        #expect(named.record(.updated(rover)) == rover)
        var any = ServiceFindings(service: "robot", name: nil, timeout: .seconds(5))
        #expect(any.record(.found(rover)) == rover)
    }

    @Test(
        arguments: [
            ([], "no service 'robot' named 'Rowr' was found within 5.0 seconds"),
            (
                ["Rover", "Spirit"],
                "no service 'robot' named 'Rowr' was found within 5.0 seconds; did you mean 'Rover'?"
            ),
            (["A", "B"], "no service 'robot' named 'Rowr' was found within 5.0 seconds; there are: 'A' and 'B'"),
        ] as [([String], String)])
    func theErrorSuggestsSimilarNames(_ names: [String], _ message: String) throws {
        var findings = ServiceFindings(service: "robot", name: "Rowr", timeout: .seconds(5))
        for name in names + ["Gone"] { #expect(try findings.record(.found(Self.service(name))) == nil) }
        #expect(findings.record(.gone(service: "robot", name: "Gone")) == nil)
        #expect(findings.error.code == .serviceNotFound)
        #expect(findings.error.message == message)
    }

    /// Anybody can publish services of any number of names while a search lasts.
    @Test
    func theNamesOfOtherServicesAreLimited() throws {
        var findings = ServiceFindings(service: "robot", name: nil, timeout: .seconds(5), searchesOthers: true)
        for number in 0..<5000 { findings.recordOther(.found(try Self.service("Rover", of: "x\(number)"))) }
        #expect(findings.error.message.contains("'x4095'") && !findings.error.message.contains("'x4096'"))
    }

    @Test
    func whatIsListedAndDoesNotAnswerIsSaidAndAFailureOfBrowsingFirst() {
        var findings = ServiceFindings(service: "robot", name: "Rover", timeout: .seconds(5))
        #expect(findings.record(.unresolved(service: "robot", name: "Spirit", Self.broken)) == nil)
        #expect(!findings.error.message.contains("does not answer"))
        #expect(findings.record(.unresolved(service: "robot", name: "Rover", Self.broken)) == nil)
        #expect(findings.error.message.contains("'robot/Rover' is listed but does not answer within 5.0 seconds"))
        #expect(findings.record(.failed(Self.broken, retryIn: .seconds(1))) == nil)
        #expect(findings.error.code == .discoveryFailed)
    }

    @Test
    func theSearchEndsWithWhatItFindsOrWithTheTime() async throws {
        let rover = try Self.service("Rover")
        let (events, tell) = AsyncStream.makeStream(of: Event.self)
        tell.yield(.found(try Self.service("Spirit")))
        tell.yield(.found(rover))
        let findings = ServiceFindings(service: "robot", name: "Rover", timeout: Patience.wait)
        #expect(try await ElementalBrowser.first(of: events, for: findings, within: Patience.wait) == rover)
        let (silence, keep) = AsyncStream.makeStream(of: Event.self)
        #expect(
            await errorCode {
                try await ElementalBrowser.first(of: silence, for: findings, within: .milliseconds(1))
            } == .serviceNotFound)
        keep.finish()
    }
}

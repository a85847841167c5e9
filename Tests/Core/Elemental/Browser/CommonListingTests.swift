import TestSupport
import Testing
import Zeroconf

@testable import Elemental

/// Which entries of the common listing are reported, and when their claims are checked.
struct CommonListingTests {
    private let start = ContinuousClock.now

    private func instance(_ name: String, _ type: String = "elemental") throws -> ServiceInstance {
        ServiceInstance(name: name, type: try .tcp(type))
    }

    private func entry(_ name: String, claims instance: String?, port: Int, txt: TXTRecord = [:]) throws
        -> ResolvedService
    {
        var record = txt
        if let instance {
            record["service"] = "lab"
            record["instance"] = instance
        }
        return ResolvedService(
            instance: try self.instance(name), host: "rock.local.", port: port, txt: record, addresses: [])
    }

    /// Where the instance that a check is about is.
    private func at(
        _ port: Int, _ check: CommonListing.Check, host: String = "Rock.local."
    ) -> CommonListing.Input {
        .answer(
            check,
            .success(ResolvedService(instance: check.claim, host: host, port: port, txt: [:], addresses: [])))
    }

    /// Finds the entry and answers its check.
    private func list(_ entry: ResolvedService, at port: Int, _ listing: inout CommonListing) throws -> [String] {
        let check = try #require(listing.handle(.listing(.found(entry)), at: start).checks.first)
        return listing.handle(at(port, check), at: start).told
    }

    @Test
    func anEntryIsReportedOnceItsClaimIsVerified() throws {
        var listing = CommonListing()
        let actions = listing.handle(.listing(.found(try entry("x", claims: "Rover", port: 1))), at: start)
        #expect(actions.told == [])
        let check = try #require(actions.checks.first)
        #expect(check.claim == (try instance("Rover", "lab")))
        // Another host: a Kelvin sign is no K in DNS.
        var other = listing
        #expect(other.handle(at(1, check, host: "roc\u{212A}.local."), at: start).told == [])
        #expect(listing.handle(at(1, check), at: start).told == ["+lab/Rover:1"])
        #expect(listing.handle(.listing(.gone(try instance("x"))), at: start).told == ["-lab/Rover"])
    }

    @Test
    func anEntryWithoutAClaimIsReportedAsItself() throws {
        var listing = CommonListing()
        let plain = try entry("Rover", claims: nil, port: 1)
        #expect(listing.handle(.listing(.found(plain)), at: start).told == ["+elemental/Rover:1"])
        #expect(listing.handle(.listing(.gone(plain.instance)), at: start).told == ["-elemental/Rover"])
    }

    @Test
    func aFalseClaimIsCheckedAgainForAsLongAsItIsListed() throws {
        var listing = CommonListing()
        #expect(try list(entry("x", claims: "Rover", port: 1), at: 2, &listing) == [])
        let later = listing.handle(.tick, at: start + .seconds(1))
        let check = try #require(later.checks.first)
        #expect(listing.handle(at(2, check), at: start + .seconds(1)).told == [])
        // The delay has grown to a second.
        #expect(listing.handle(.tick, at: start + .milliseconds(1500)).checks.isEmpty)
        let last = try #require(listing.handle(.tick, at: start + .seconds(2)).checks.first)
        #expect(listing.handle(at(1, last), at: start + .seconds(2)).told == ["+lab/Rover:1"])
        #expect(listing.handle(.listing(.gone(try instance("x"))), at: start).told == ["-lab/Rover"])
        #expect(listing.handle(.tick, at: start + .seconds(9)).isEmpty)
    }

    @Test
    func ofTwoEntriesWithOneClaimTheOneAtItsAddressIsReported() throws {
        var listing = CommonListing()
        #expect(try list(entry("false", claims: "Rover", port: 1), at: 2, &listing) == [])
        #expect(try list(entry("true", claims: "Rover", port: 2), at: 2, &listing) == ["+lab/Rover:2"])
        // A second listing of the same service is no second service; it takes over when the first has gone.
        #expect(try list(entry("also true", claims: "Rover", port: 2), at: 2, &listing) == [])
        #expect(listing.handle(.listing(.gone(try instance("true"))), at: start).told == ["~lab/Rover:2"])
        // The instance is elsewhere now.
        #expect(try list(entry("moved", claims: "Rover", port: 3), at: 3, &listing) == ["~lab/Rover:3"])
        #expect(listing.handle(.listing(.gone(try instance("also true"))), at: start).told == [])
        #expect(listing.handle(.listing(.gone(try instance("moved"))), at: start).told == ["-lab/Rover"])
    }

    @Test
    func aClaimThatChangesIsCheckedAnew() throws {
        var listing = CommonListing()
        #expect(try list(entry("x", claims: "Rover", port: 1), at: 1, &listing) == ["+lab/Rover:1"])
        let other = listing.handle(.listing(.updated(try entry("x", claims: "Lander", port: 1))), at: start)
        #expect(other.told == ["-lab/Rover"])
        let check = try #require(other.checks.first)
        // Another change overtakes the answer.
        #expect(
            listing.handle(.listing(.updated(try entry("x", claims: nil, port: 1))), at: start).told
                == ["+elemental/x:1"])
        #expect(listing.handle(at(1, check), at: start).told == [])
    }

    @Test
    func aMovedServiceIsReportedOnceItsNewAddressIsVerified() throws {
        var listing = CommonListing()
        #expect(try list(entry("x", claims: "Rover", port: 1), at: 1, &listing) == ["+lab/Rover:1"])
        let shown = try entry("x", claims: "Rover", port: 1, txt: ["battery": "5"])
        #expect(listing.handle(.listing(.updated(shown)), at: start).told == ["~lab/Rover:1"])
        let moved = listing.handle(.listing(.updated(try entry("x", claims: "Rover", port: 2))), at: start)
        #expect(moved.told == [])
        // The network may remember the old place for a moment; twice wrong is gone.
        var check = try #require(moved.checks.first)
        #expect(listing.handle(at(1, check), at: start).told == [])
        check = try #require(listing.handle(.tick, at: start + .seconds(1)).checks.first)
        #expect(listing.handle(at(1, check), at: start + .seconds(1)).told == ["-lab/Rover"])
        check = try #require(listing.handle(.tick, at: start + .seconds(9)).checks.first)
        #expect(listing.handle(at(2, check), at: start + .seconds(9)).told == ["+lab/Rover:2"])
    }

    @Test
    func checksAreLimitedAndNewEntriesGoFirst() throws {
        var listing = CommonListing()
        var checks: [CommonListing.Check] = []
        for number in 1...100 {
            checks +=
                listing.handle(
                    .listing(.found(try entry("\(number)", claims: "Rover", port: number))), at: start
                ).checks
        }
        #expect(checks.count == CommonListing.maximumCheckCount)
        for _ in 1...100 { checks += listing.handle(at(0, checks.removeFirst()), at: start).checks }
        #expect(checks.isEmpty)
        checks = listing.handle(.tick, at: start + .seconds(1)).checks
        #expect(checks.count == CommonListing.maximumCheckCount)
        #expect(listing.handle(.listing(.found(try entry("new", claims: "New", port: 1))), at: start).checks.isEmpty)
        let next = listing.handle(at(0, checks.removeFirst()), at: start + .seconds(1)).checks
        #expect(next.map(\.entry.name) == ["new"])
    }

    @Test
    func aReaderThatStopsEndsTheWatch() async throws {
        let (events, event) = AsyncStream.makeStream(of: ServiceBrowser.Event.self)
        for number in 1...10 { event.yield(.found(try entry("\(number)", claims: nil, port: number))) }
        let told = Transcript<String>()
        // The events do not end: that the reader wants no more is what ends it.
        await CommonListing.run(events, logger: .silent) { event in
            if case .found(let service) = event { told.add(service.name) }
            return told.all.count < 4
        }
        #expect(told.all == ["1", "2", "3", "4"])
    }

    @Test(
        "a claim with a name that cannot be is not checked", arguments: ["", "a\0b", String(repeating: "x", count: 64)])
    func invalidClaims(_ name: String) throws {
        var listing = CommonListing()
        let actions = listing.handle(.listing(.found(try entry("x", claims: name, port: 1))), at: start)
        #expect(actions.told.isEmpty && actions.checks.isEmpty)
    }
}

extension [CommonListing.Action] {
    fileprivate var checks: [CommonListing.Check] {
        compactMap { action in
            guard case .check(let check) = action else { return nil }
            return check
        }
    }

    fileprivate var told: [String] {
        compactMap {
            guard case .tell(let event) = $0 else { return nil }
            return switch event {
            case .found(let service): "+\(service.service)/\(service.name):\(service.port)"
            case .updated(let service): "~\(service.service)/\(service.name):\(service.port)"
            case .gone(let service, let name): "-\(service)/\(name)"
            case .unresolved(let service, let name, _): "?\(service)/\(name)"
            case .failed: "!"
            }
        }
    }
}

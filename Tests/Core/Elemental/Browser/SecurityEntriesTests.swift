import ElementalWire
import Testing
import Zeroconf

@testable import Elemental

/// What a TXT record says about a service's security.
struct SecurityEntriesTests {
    private static let fingerprint = "abcdefghij234567"

    /// A record and what is read from it.
    struct Record: Sendable {
        let txt: [String: String]
        let policy: SecurityPolicy?
        let fingerprint: String?
        let isPairing: Bool

        init(_ txt: [String: String], _ policy: SecurityPolicy?, _ fingerprint: String? = nil, isPairing: Bool = false)
        {
            self.txt = txt
            self.policy = policy
            self.fingerprint = fingerprint
            self.isPairing = isPairing
        }
    }

    private static let records: [Record] = [
        Record([:], .open), Record(["sec": "0", "id": fingerprint, "pair": "1"], .open),
        Record(["sec": "1"], .pairedToControl), Record(["sec": "2", "pair": "0"], .paired),
        Record(["SEC": "2", "Pair": "1", "iD": fingerprint], .paired, fingerprint, isPairing: true),
        Record(["sec": "3", "id": fingerprint, "pair": "1"], nil), Record(["sec": "-1"], nil),
        Record(["sec": "256"], nil), Record(["sec": ""], nil), Record(["sec": "+1"], nil), Record(["sec": "01"], nil),
        Record(["sec": "１"], nil), Record(["sec": "wpa"], nil),
        Record(["sec": "2", "id": "ABCDEFGHIJ234567"], .paired),
        Record(["sec": "2", "id": "abcdefghij23456"], .paired),
        Record(["sec": "2", "id": "abcdefghij2345678"], .paired),
        Record(["sec": "2", "id": "abcdefghij23456\u{1B}"], .paired),
        Record(["sec": "2", "id": "äbcdefghij23456"], .paired), Record(["sec": "2", "id": "", "pair": "11"], .paired),
        Record(["sec": "2", "pair": "yes"], .paired),
    ]

    private func record(
        _ change: (inout SecurityEntries) -> Void, policy: SecurityPolicy, own: [String: String] = [:]
    ) throws -> TXTRecord {
        var entries = SecurityEntries(policy: policy)
        change(&entries)
        return try ServiceTXT.record(own, service: "robot", instanceName: nil, security: entries)
    }

    private func discovered(_ txt: TXTRecord) throws -> DiscoveredService {
        DiscoveredService(
            ResolvedService(
                instance: ServiceInstance(name: "Rover", type: try .tcp("robot")), host: "pi.local.", port: 1, txt: txt,
                addresses: []))
    }

    @Test
    func anOpenServicesRecordIsWhatItWas() throws {
        let own = ["id": "7", "pair": "1", "sec": "wpa"]
        let entries = try record({ $0.shortFingerprint = Self.fingerprint }, policy: .open, own: own)
        let before: TXTRecord = ["elemental": "1", "id": "7", "pair": "1", "sec": "wpa"]
        #expect(try entries.encoded() == before.encoded())
        let empty: TXTRecord = ["elemental": "1"]
        #expect(try record({ _ in }, policy: .open).encoded() == empty.encoded())
    }

    @Test
    func otherPoliciesAreStated() throws {
        let controlled: TXTRecord = ["elemental": "1", "sec": "1"]
        #expect(try record({ _ in }, policy: .pairedToControl).encoded() == controlled.encoded())
        let paired = try record(
            {
                $0.shortFingerprint = Self.fingerprint
                $0.isPairing = true
            }, policy: .paired, own: ["model": "X"])
        let expected: TXTRecord = [
            "elemental": "1", "sec": "2", "id": Self.fingerprint, "pair": "1", "model": "X",
        ]
        #expect(try paired.encoded() == expected.encoded())
        let found = try discovered(paired)
        #expect(found.security == .paired && found.shortFingerprint == Self.fingerprint && found.isPairing)
        #expect(found.txt == ["model": "X"])
    }

    @Test(arguments: ["sec", "ID", "pair"])
    func theirKeysAreTakenUnlessTheServiceIsOpen(_ key: String) {
        for policy in [SecurityPolicy.pairedToControl, .paired] {
            let error = #expect(throws: ZeroconfError.self) { try record({ _ in }, policy: policy, own: [key: "1"]) }
            #expect(error?.code == .invalidTXTRecord)
        }
        let service = ElementalService("robot", elements: [], configuration: configuration(.paired, [key: "1"]))
        #expect(throws: ElementalError.self) { try service.checkNames() }
    }

    private func configuration(_ policy: SecurityPolicy, _ txt: [String: String] = [:]) -> ServiceConfiguration {
        var configuration = ServiceConfiguration()
        configuration.security = ServiceSecurity(policy: policy, keys: nil)
        configuration.txt = txt
        return configuration
    }

    /// What anyone may publish: a policy of a later version, no number, a fingerprint that is none, other words.
    @Test(arguments: records)
    func anythingInARecordIsTolerated(_ record: Record) throws {
        var txt = TXTRecord(record.txt)
        txt["elemental"] = "1"
        let found = try discovered(txt)
        #expect(found.security == record.policy)
        #expect(found.shortFingerprint == record.fingerprint)
        #expect(found.isPairing == record.isPairing)
        // What is not understood stays a program's own.
        let isUnderstood = record.policy == .paired || record.policy == .pairedToControl
        #expect(found.txt.isEmpty == (isUnderstood || record.txt.isEmpty))
    }

    /// A record without this framework's version is not this framework's.
    @Test
    func anOlderServicesRecordSaysNothing() throws {
        let found = try discovered(["sec": "2", "id": Self.fingerprint])
        #expect(found.security == .open && found.shortFingerprint == nil && !found.saysHello)
        #expect(found.txt.count == 2)
    }

    /// Before the service runs, and after.
    @Test
    func whatIsSaidCanChange() throws {
        let service = ElementalService("robot", elements: [], configuration: configuration(.paired))
        try service.advertise {
            $0.isPairing = true
            $0.shortFingerprint = Self.fingerprint
        }
        #expect(try service.shared.txtRecord(instanceName: nil)["pair"] == "1")
        try service.advertise { $0.isPairing = false }
        let record = try service.shared.txtRecord(instanceName: "Rover")
        #expect(record["pair"] == nil && record["id"] == Self.fingerprint && record["sec"] == "2")
    }
}

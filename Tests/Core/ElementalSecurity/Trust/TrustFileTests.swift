import ElementalWire
import TestSupport
import Testing

@testable import ElementalSecurity

/// The text of `trust.json`.
struct TrustFileTests {
    private static let first = "\(Fingerprint.sample(1))"
    private static let second = "\(Fingerprint.sample(2))"

    private static let text = """
        {
          "clients" : [
            {
              "fingerprint" : "\(first)",
              "name" : "Rob's \\"iPhone\\"",
              "pairedBy" : "\(second)",
              "role" : "control",
              "services" : [
                "lamp",
                "robot"
              ]
            },
            {
              "fingerprint" : "\(second)",
              "name" : "tablet",
              "role" : "operator",
              "services" : [
                "*"
              ]
            }
          ],
          "services" : [
            {
              "fingerprint" : "\(first)",
              "hosts" : [
                {
                  "host" : "rover.local",
                  "port" : 5000
                }
              ],
              "instance" : "Rover",
              "role" : "observe",
              "service" : "robot"
            }
          ],
          "version" : 1
        }

        """

    private static func error(_ text: String) -> SecurityError? {
        securityError { _ = try TrustFile.peers(Array(text.utf8)) }
    }

    @Test
    func itIsReadAndWrittenAsItIs() throws {
        let peers = try TrustFile.peers(Array(Self.text.utf8))
        #expect(
            peers.clients[0]
                == .sample(
                    1, name: "Rob's \"iPhone\"", role: .control, services: ["lamp", "robot"], pairedBy: .sample(2)))
        #expect(
            peers.services
                == [.sample(1, instance: "Rover", hosts: [.init("rover.local", port: 5000)], role: .observe)])
        #expect(String(decoding: try TrustFile.text(peers), as: UTF8.self) == Self.text)
    }

    /// A role of a newer version grants nothing here, and is there still after this version has written the file.
    @Test
    func anUnknownRoleGrantsNothingAndIsKept() throws {
        var peers = try TrustFile.peers(Array(Self.text.utf8))
        #expect(peers.clients[1].role == nil)
        #expect(peers.role(of: .sample(2), for: "robot") == nil)
        try peers.pin(TrustedClient.sample(3), own: .sample(0))
        let rewritten = try TrustFile.peers(try TrustFile.text(peers))
        #expect(rewritten == peers)
        #expect(rewritten.clients[1].storedRole.name == "operator")
    }

    /// Earlier versions told names apart by case.
    @Test
    func namesThatDifferInCaseAloneAreOneServiceWithOneKey() throws {
        func text(_ key: String) -> String {
            let other = """
                  "services" : [
                    {
                      "fingerprint" : "\(key)",
                      "hosts" : [ { "host" : "10.0.0.1", "port" : 1 } ],
                      "instance" : "ROVER",
                      "role" : "control",
                      "service" : "Robot"
                    },
                    {
                      "fingerprint" : "\(Self.first)",
                      "hosts"
                """
            return Self.text.replacing(
                "  \"services\" : [\n    {\n      \"fingerprint\" : \"\(Self.first)\",\n      \"hosts\"", with: other)
        }
        let merged = TrustedService.sample(
            1, service: "Robot", instance: "ROVER",
            hosts: [.init("10.0.0.1", port: 1), .init("rover.local", port: 5000)])
        #expect(try TrustFile.peers(Array(text(Self.first).utf8)).services == [merged])
        let error = Self.error(text(Self.second))
        #expect(error?.code == .corrupt)
        #expect(
            error?.message.contains("two keys, \(Self.second) and \(Self.first)") == true, "\(error?.message ?? "")")
    }

    @Test
    func nobodyIsAValidFile() throws {
        let text = try TrustFile.text(TrustedPeers())
        #expect(try TrustFile.peers(text) == TrustedPeers())
        #expect(Self.error("{\"clients\":[],\"services\":[],\"version\":1}") == nil)
    }

    /// What is replaced by what, and what the error says of it.
    @Test(arguments: [
        ("\"version\" : 1", "\"version\" : 2", "version"),
        ("\"version\" : 1", "\"version\" : \"1\"", "version"),
        (",\n  \"version\" : 1", "", "\"version\" is missing"),
        ("\"version\" : 1", "\"version\" : 1, \"policy\" : true", "policy"),
        ("\"clients\" : [", "\"customers\" : [", "customers"),
        ("\"name\" : \"tablet\",", "", "[1]"),
        ("\"name\" : \"tablet\"", "\"name\" : null", "[1]"),
        ("\"name\" : \"tablet\"", "\"name\" : \"tablet\", \"until\" : 5", "until"),
        ("\"name\" : \"tablet\"", "\"name\" : \"Rob's \\\"iPhone\\\"\"", "two clients are named"),
        ("\"name\" : \"tablet\"", "\"name\" : \"a\\u0007\"", "control characters"),
        ("\"role\" : \"operator\"", "\"role\" : 3", "role"),
        ("\"role\" : \"operator\"", "\"role\" : \"\"", "role"),
        ("\"*\"", "\"*\", \"robot\"", "services"),
        ("\"*\"", "", "services"),
        ("\"port\" : 5000", "\"port\" : 65536", "out of range"),
        ("\"port\" : 5000", "\"port\" : -1", "out of range"),
        ("\"port\" : 5000", "\"port\" : 5000.5", "out of range"),
        ("\"host\" : \"rover.local\"", "\"host\" : \"\"", "hosts"),
        ("\"instance\" : \"Rover\"", "\"instance\" : \"Rover\", \"name\" : \"x\"", "name"),
        ("\"fingerprint\" : \"\(second)\"", "\"fingerprint\" : \"\(Fingerprint.sample(2).short)\"", "52 base32"),
        ("\"pairedBy\" : \"\(second)\"", "\"pairedBy\" : \"me\"", "52 base32"),
        ("\"version\" : 1\n}", "\"version\" : 1\n", "not JSON"),
    ])
    func whatIsNotUnderstoodMakesItCorrupt(_ old: String, _ new: String, _ hint: String) {
        let changed = Self.text.replacing(old, with: new)
        #expect(changed != Self.text)
        let error = Self.error(changed)
        #expect(error?.code == .corrupt)
        #expect(error?.message.contains(hint) == true, "\(error?.message ?? "no error")")
    }

    @Test(arguments: [
        "", " ", "{}", "[]", "null", "1", "\"\"", "{\"version\":1}", "\u{FEFF}", String(repeating: "[", count: 100_000),
    ])
    func otherTextsAreCorrupt(_ text: String) { #expect(Self.error(text)?.code == .corrupt) }

    @Test
    func aTruncatedTextIsCorrupt() {
        for count in 0..<Self.text.count - 2 {
            #expect(Self.error(String(Self.text.prefix(count)))?.code == .corrupt, "\(count)")
        }
    }

    @Test
    func sizesAreBounded() throws {
        let padding = String(repeating: " ", count: TrustFile.maximumByteCount)
        #expect(Self.error(Self.text + padding)?.code == .corrupt)
        let most = TrustedPeers(clients: (0..<TrustedPeers.maximumCount).map { .sample($0) })
        #expect(try TrustFile.peers(try TrustFile.text(most)) == most)
        var more = most
        more.clients.append(.sample(5000))
        #expect(throws: SecurityError.self) { try TrustFile.text(more) }
        // Valid, but more than a file may have.
        let names = TrustedClient.Services.named(
            Set((0..<64).map { String(repeating: "x", count: 60) + String($0) }))
        var large = TrustedPeers(clients: (0..<TrustedPeers.maximumCount).map { .sample($0, services: names) })
        let error = #expect(throws: SecurityError.self) { try TrustFile.text(large) }
        #expect(error?.code == .full)
        large.clients.removeLast(900)
        #expect(try TrustFile.peers(try TrustFile.text(large)) == large)
    }

    @Test
    func changedTextsAreReadOrRefused() {
        var readCount = 0
        changes(of: Self.text.utf8, to: "{}[]\",:0a*-\\ \u{0}".utf8, seed: 16) { changed in
            guard let peers = try? TrustFile.peers(changed) else { return }
            readCount += 1
            #expect((try? peers.validate()) != nil)
        }
        #expect(readCount > 0)
    }
}

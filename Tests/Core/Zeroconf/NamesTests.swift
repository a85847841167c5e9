import Testing

@testable import Zeroconf

@Suite struct NamesTests {
    @Test(arguments: ["_robot._tcp", "_robot._tcp.", "_screen_control._tcp", "_a1._udp", "_Robot._TCP", "_x-y._tcp"])
    func acceptedTypes(type: String) throws {
        let parsed = try ServiceType(type)
        #expect(parsed.description.lowercased() + (type.hasSuffix(".") ? "." : "") == type.lowercased())
    }

    @Test(arguments: [
        "", "robot", "_robot", "robot._tcp", "_robot._sctp", "_._tcp", "_a._tcp", "_1234._tcp", "_-ab._tcp",
        "_ab-._tcp", "_robot._tcp.local", "_a b._tcp", "_rö._tcp", "_abcdefghijklmnop._tcp", "_a,b._tcp", "_ab_._tcp",
    ])
    func refusedTypes(type: String) {
        let error = #expect(throws: ZeroconfError.self) { try ServiceType(type) }
        #expect(error?.code == .invalidType)
    }

    /// What a program prints that logs each event.
    @Test func eventsAreLinesWithoutEscapeSequences() throws {
        let (evil, shown) = ("evil\u{1B}[2J\n", #"evil\u{1B}[2J\n"#)
        let instance = ServiceInstance(name: evil, type: try .tcp("robot"))
        let service = ResolvedService(instance: instance, host: "pi.local.", port: 7, txt: TXTRecord(), addresses: [])
        let error = ZeroconfError(.daemonUnavailable, evil)
        let name = "\"\(shown)\"._robot._tcp.local."
        for (event, text) in [
            (ServiceBrowser.Event.found(service), "found: \(name) at pi.local.:7"),
            (.updated(service), "updated: \(name) at pi.local.:7"), (.gone(instance), "gone: \(name)"),
            (.unresolved(instance, error), "not resolved: \(name): daemonUnavailable: \(shown)"),
            (
                .failed(error, retryIn: .seconds(2)),
                "browsing failed: daemonUnavailable: \(shown); retrying in 2.0 seconds"
            ),
        ] { #expect("\(event)" == text) }
        for (event, text) in [
            (ServicePublisher.Event.published(name: evil), "published as '\(shown)'"),
            (.renamed(from: evil, to: "Rover"), "'\(shown)' is published as 'Rover'"),
            (
                .failed(error, retryIn: .seconds(2)),
                "not published: daemonUnavailable: \(shown); retrying in 2.0 seconds"
            ),
        ] { #expect("\(event)" == text) }
    }

    @Test func bareNames() throws {
        #expect(try ServiceType.tcp("robot") == ServiceType("_ROBOT._tcp"))
        #expect(try ServiceType.udp("robot").description == "_robot._udp")
        #expect(try ServiceType.tcp("abcdefghijklmno").name.count == 15)
    }

    @Test func domainsAreNormalised() throws {
        let type = try ServiceType.tcp("robot")
        let domains = ["local", "local.", "Local.", "", "."]
        #expect(Set(domains.map { ServiceInstance(name: "Rover", type: type, domain: $0) }).count == 1)
        // As in names, only ASCII letters have a case.
        let others = ["K", "k", "\u{212A}"].map { ServiceInstance(name: "Rover", type: type, domain: $0).domain }
        #expect(others == ["k.", "k.", "\u{212A}."])
    }

    @Test func candidatesStayWithin63Bytes() throws {
        #expect(ServiceName.candidate(1, for: "Rover") == "Rover")
        #expect(ServiceName.candidate(12, for: "Rover") == "Rover (12)")
        // Four bytes each; a cut in the middle of one would not be a name.
        let long = String(repeating: "🤖", count: 15)
        let candidate = ServiceName.candidate(2, for: long)
        #expect(candidate.hasSuffix(" (2)") && candidate.utf8.count <= 63)
        #expect(candidate.dropLast(4).allSatisfy { $0 == "🤖" })
    }

    @Test(arguments: ["", String(repeating: "x", count: 64), "a\nb", "a\u{7F}"])
    func refusedNames(name: String) throws {
        let type = try ServiceType.tcp("robot")
        let error = #expect(throws: ZeroconfError.self) { try ServicePublisher(name: name, type: type, port: 1) }
        #expect(error?.code == .invalidName)
    }

    @Test(arguments: [0, -1, 65536])
    func refusedPorts(port: Int) throws {
        let type = try ServiceType.tcp("robot")
        let error = #expect(throws: ZeroconfError.self) { try ServicePublisher(name: "Rover", type: type, port: port) }
        #expect(error?.code == .invalidPort)
    }

    @Test func addressesAsText() throws {
        let address = { (bytes: [UInt8]) in NetworkAddress(bytes: bytes, interfaceIndex: 9999) }
        #expect(address([10, 0, 0, 1])?.presentation == "10.0.0.1")
        let linkLocal: [UInt8] = [0xFE, 0x80] + Array(repeating: 0, count: 13) + [1]
        #expect(address(linkLocal)?.presentation == "fe80::1%9999")
        let global: [UInt8] = [0xFD] + Array(repeating: 0, count: 14) + [1]
        #expect(address(global)?.presentation == "fd00::1")
        #expect(address([1, 2, 3]) == nil && address([]) == nil)
    }

    @Test func addressesAreCountedAndOrdered() {
        var host = HostAddresses()
        func change(_ isAdded: Bool, _ interface: UInt32, _ data: [UInt8]) -> Bool {
            host.apply(isAdded: isAdded, interface: interface, data: data)
        }
        #expect(change(true, 1, [127, 0, 0, 1]))
        #expect(change(true, 3, [10, 0, 0, 1]))
        #expect(!change(true, 3, [10, 0, 0, 1]))
        #expect(change(true, 2, [10, 0, 0, 1]))
        #expect(host.sorted.map(\.presentation) == ["10.0.0.1", "127.0.0.1"])
        #expect(!change(false, 3, [10, 0, 0, 1]))
        #expect(change(false, 3, [10, 0, 0, 1]))
        #expect(change(false, 2, [10, 0, 0, 1]))
        #expect(host.sorted.map(\.presentation) == ["127.0.0.1"])
        #expect(!change(false, 2, [10, 0, 0, 1]))
    }
}

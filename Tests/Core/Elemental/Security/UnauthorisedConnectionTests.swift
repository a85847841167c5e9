import NIOCore
import Support
import Testing

@testable import Elemental

/// The bounds on connections whose peers are unknown yet.
struct UnauthorisedConnectionTests {
    private final class Name {}

    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    private static func host(_ text: String) throws -> IPAddress {
        try #require(IPAddress(literal: text))
    }

    /// Adds connections until one is refused.
    private static func fill(
        _ connections: inout UnauthorisedConnections, _ names: inout [Name], at now: NIODeadline = start,
        from host: () throws -> IPAddress
    ) rethrows -> Int {
        var count = 0
        while count < 1000 {
            let name = Name()
            names.append(name)
            guard connections.add(ObjectIdentifier(name), from: try host(), at: now) else { break }
            count += 1
        }
        return count
    }

    @Test
    func aHostAnIPv6NetworkAndAllTogetherHaveTheirBounds() throws {
        var connections = UnauthorisedConnections()
        var names: [Name] = []
        #expect(try Self.fill(&connections, &names) { try Self.host("10.0.0.1") } == 8)
        // The same host, as a socket for both families presents it.
        #expect(try Self.fill(&connections, &names) { try Self.host("::ffff:10.0.0.1") } == 0)
        var last = 0
        #expect(
            try Self.fill(&connections, &names) {
                last += 1
                return try Self.host("fd00::\(last)")
            } == 32)
        #expect(
            try Self.fill(&connections, &names) {
                last += 1
                return try Self.host("10.1.0.\(last)")
            } == 64 - 32 - 8)
        for name in names { connections.remove(ObjectIdentifier(name)) }
        for name in names { connections.remove(ObjectIdentifier(name)) }
        #expect(try Self.fill(&connections, &names) { try Self.host("10.0.0.1") } == 8)
    }

    @Test
    func handshakesAreBoundedEachSecond() throws {
        var connections = UnauthorisedConnections()
        var names: [Name] = []
        func begin(_ host: String, at now: NIODeadline) throws -> Bool {
            let name = Name()
            names.append(name)
            let id = ObjectIdentifier(name)
            #expect(connections.add(id, from: try Self.host(host), at: now))
            defer { connections.remove(id) }
            return connections.beginHandshake(id, at: now)
        }
        let now = Self.start
        #expect(try (0..<10).filter { _ in try begin("10.0.0.1", at: now) }.count == 5)
        #expect(try (1...30).filter { try begin("fd00::\($0)", at: now) }.count == 20)
        #expect(try (1...50).filter { try begin("10.1.0.\($0)", at: now) }.count == 50 - 20 - 5)
        #expect(try !begin("10.0.0.1", at: now + .milliseconds(199)))
        #expect(try begin("10.0.0.1", at: now + .milliseconds(200)))
        // A second later all are available again, and nothing is remembered of those hosts for good.
        for second in 1...100 {
            let now = now + .seconds(Int64(second + 1))
            #expect(try (1...60).filter { try begin("10.2.\(second).\($0)", at: now) }.count == 50)
        }
        #expect(connections.rememberedCount <= 128)
    }

    @Test
    func aHostOfAnAuthorisedDeviceMayConnectMoreOften() throws {
        var connections = UnauthorisedConnections()
        func begin(at now: NIODeadline) throws -> Bool {
            let name = Name()
            let id = ObjectIdentifier(name)
            #expect(connections.add(id, from: try Self.host("10.0.0.1"), at: now))
            let mayBegin = connections.beginHandshake(id, at: now)
            if mayBegin { connections.reserve(id, at: now) }
            connections.remove(id)
            return mayBegin
        }
        #expect(try begin(at: Self.start))
        #expect(try (0..<100).filter { _ in try begin(at: Self.start) }.count == 50)
        #expect(try begin(at: Self.start + .milliseconds(20)))
    }

    @Test
    func connectionsThatComeToNothingAreBoundedEachSecond() throws {
        var connections = UnauthorisedConnections()
        var names: [Name] = []
        func connect(_ host: String, at now: NIODeadline, wasted: Bool = true) throws -> Bool {
            let name = Name()
            names.append(name)
            let id = ObjectIdentifier(name)
            guard connections.add(id, from: try Self.host(host), at: now) else { return false }
            if !wasted { connections.remove(id) }
            connections.waste(id, at: now)
            return true
        }
        let now = Self.start
        // Those that get a session do not count.
        #expect(try (0..<100).allSatisfy { _ in try connect("10.0.0.1", at: now, wasted: false) })
        #expect(try (0..<100).filter { _ in try connect("10.0.0.1", at: now) }.count == 20)
        #expect(try (1...100).filter { try connect("fd00::\($0)", at: now) }.count == 80)
        #expect(try (1...200).filter { try connect("10.1.0.\($0)", at: now) }.count == 200 - 80 - 20)
        #expect(try !connect("10.0.0.1", at: now + .milliseconds(49)))
        #expect(try connect("10.0.0.1", at: now + .milliseconds(50)))
        #expect(try (0..<100).filter { _ in try connect("10.0.0.1", at: now + .seconds(2)) }.count == 20)
        #expect(connections.rememberedCount <= 512)
    }

    @Test
    func aHostWithAnAuthorisedDeviceIsNotKeptOutByAFlood() throws {
        var connections = UnauthorisedConnections()
        var names: [Name] = []
        let paired = Name()
        #expect(connections.add(ObjectIdentifier(paired), from: try Self.host("10.0.0.1"), at: Self.start))
        connections.reserve(ObjectIdentifier(paired), at: Self.start)
        connections.remove(ObjectIdentifier(paired))
        var last = 0
        let flood = try Self.fill(&connections, &names) {
            last += 1
            return try Self.host("10.1.0.\(last)")
        }
        #expect(flood == 64)
        #expect(names.filter { connections.beginHandshake(ObjectIdentifier($0), at: Self.start) }.count == 50)
        #expect(connections.add(ObjectIdentifier(paired), from: try Self.host("10.0.0.1"), at: Self.start))
        let mayBegin = connections.beginHandshake(ObjectIdentifier(paired), at: Self.start)
        #expect(mayBegin)
        connections.remove(ObjectIdentifier(paired))
        // For an hour.
        let late = Self.start + .hours(1)
        #expect(!connections.add(ObjectIdentifier(paired), from: try Self.host("10.0.0.1"), at: late))
    }
}

/// What the first bytes of a connection say.
struct FirstBytesTests {
    private static let hello: [UInt8] = [0x16, 3, 1, 2, 0, 1, 0]

    @Test
    func sixBytesTellTLS() {
        for count in 0..<6 { #expect(FirstBytes(Self.hello.prefix(count)) == .undecided) }
        #expect(FirstBytes(Self.hello.prefix(6)) == .tls)
        #expect(FirstBytes(Self.hello) == .tls)
    }

    @Test(arguments: [
        [0xfe], [0x00], [0x16, 4], [0x16, 3, 0], [0x16, 3, 5], [0x16, 3, 1, 0, 0],
        [0x16, 3, 1, 0x40, 1], [0x16, 3, 1, 0x41], [0x16, 3, 1, 2, 0, 2],
    ])
    func aByteThatCannotBePartOfAClientHelloTellsAPlainClient(_ bytes: [UInt8]) {
        #expect(FirstBytes(bytes) == .plain)
        #expect(FirstBytes(bytes.dropLast()) != .plain)
    }
}

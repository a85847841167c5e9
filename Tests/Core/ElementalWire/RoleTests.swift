import Testing

@testable import ElementalWire

struct RoleTests {
    @Test
    func rolesHaveAnOrder() {
        #expect(Role.allCases == [.plain, .observe, .control, .admin])
        #expect([Role.control, .plain, .admin, .observe].sorted() == Role.allCases)
        #expect(min(Role.admin, .control) == .control)
        #expect(!Role.granted.contains(.plain))
    }

    @Test
    func rolesHaveNamesAndCodes() {
        #expect(Role(rawValue: "root") == nil)
        for (code, role) in Role.allCases.enumerated() {
            #expect(role.code == UInt8(code))
            #expect(Role(code: UInt8(code)) == role)
        }
        #expect((4...255).allSatisfy { Role(code: $0) == nil })
    }

    @Test
    func policiesHaveNamesAndCodes() {
        #expect(SecurityPolicy.allCases.map(\.rawValue) == ["open", "paired-to-control", "paired"])
        for (code, policy) in SecurityPolicy.allCases.enumerated() {
            #expect(policy.code == UInt8(code))
            #expect(SecurityPolicy(code: UInt8(code)) == policy)
        }
        #expect((3...255).allSatisfy { SecurityPolicy(code: $0) == nil })
    }
}

/// What each role may do with an element, under each policy.
struct ElementAccessTests {
    static let usual = Element<Int64>(1, "Usual")
    static let reading = Element<Int64>(2, "Reading", access: .read)
    static let command = Element<Int64>(3, "Command", access: .write)
    static let secret = Element<Int64>(4, "Secret").readable(by: .control)
    static let reset = Element<Int64>(5, "Reset").writable(by: .admin)
    static let bell = Element<Int64>(6, "Bell").writable(by: .observe)
    static let door = Element<Int64>(7, "Door").readable(by: .plain).writable(by: .plain)
    static let hidden = Element<Int64>(8, "Hidden", access: .write).readable(by: .admin).writable(by: .observe)
    static let all: ElementCatalogue = [usual, reading, command, secret, reset, bell, door, hidden]

    /// `rw`, `ro`, `wo` or `-` for each element, in the catalogue's order.
    static func accesses(_ policy: SecurityPolicy, _ role: Role) -> String {
        all.map { element in
            let access = policy.access(of: role, to: element)
            return access.isEmpty ? "-" : access.abbreviation
        }.joined(separator: " ")
    }

    @Test(arguments: Role.allCases)
    func anOpenServiceLetsEverybodyDoEverything(_ role: Role) {
        #expect(Self.accesses(.open, role) == "rw ro wo rw rw rw rw wo")
        #expect(Self.all.visible(to: role, under: .open) == Self.all)
    }

    @Test(arguments: [
        (SecurityPolicy.pairedToControl, Role.plain, "ro ro - - ro ro ro -"),
        (.pairedToControl, .observe, "ro ro - - ro rw rw -"),
        (.pairedToControl, .control, "rw ro wo rw ro rw rw -"),
        (.pairedToControl, .admin, "rw ro wo rw rw rw rw wo"),
        (.paired, .plain, "- - - - - - - -"),
        (.paired, .observe, "ro ro - - ro rw rw -"),
        (.paired, .control, "rw ro wo rw ro rw rw -"),
        (.paired, .admin, "rw ro wo rw rw rw rw wo"),
    ])
    func otherServicesGoByRole(_ policy: SecurityPolicy, _ role: Role, _ accesses: String) {
        #expect(Self.accesses(policy, role) == accesses)
        let visible = Self.all.visible(to: role, under: policy)
        let shown = Self.all.map { visible[id: $0.id]?.access.abbreviation ?? "-" }.joined(separator: " ")
        #expect(shown == accesses)
    }

    @Test
    func onlyTheAccessOfAVisibleElementChanges() throws {
        let visible = Self.all.visible(to: .control, under: .paired)
        #expect(visible[id: Self.usual.id] === Self.usual)
        let reset = try #require(visible[id: Self.reset.id])
        let expected = try ElementDefinition(id: 5, name: "Reset", type: .int64, access: .read, writers: .admin)
        #expect(reset == expected)
        #expect(reset != Self.reset)
    }

    @Test
    func rolesAreNotOnTheWire() throws {
        let plain: ElementCatalogue = [Element<Int64>(4, "Secret"), Element<Int64>(5, "Reset")]
        let restricted: ElementCatalogue = [Self.secret, Self.reset]
        #expect(restricted.wireBytes == plain.wireBytes)
        let read = try ElementCatalogue(bytes: restricted.wireBytes)
        #expect(read == plain)
        #expect(read != restricted)
    }

    @Test
    func aDefinitionOfRunTimeNamesRolesToo() throws {
        let definition = try ElementDefinition(
            id: 4, name: "Secret", type: .int64, readers: .control, writers: .control)
        #expect(definition == Self.secret)
        let element = try Element<Int64>(definition)
        #expect(element.readers == .control)
        #expect(element.writable(by: .admin).writers == .admin)
        #expect(element.writers == .control)
    }

    @Test
    func aRestrictedElementKeepsEverythingElse() throws {
        let element = Element<Float>(1, "Heat", transport: .udp, unit: "°C", range: 5...30, step: 0.5, latest: true)
        let restricted = element.readable(by: .observe).writable(by: .admin)
        #expect(restricted.readers == .observe && restricted.writers == .admin)
        #expect(([restricted] as ElementCatalogue).wireBytes == ([element] as ElementCatalogue).wireBytes)
        #expect(restricted.allows(30) && !restricted.allows(31))
    }
}

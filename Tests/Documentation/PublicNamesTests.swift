import Testing

/// What `import Elemental` puts into a user's namespace: elements and values, and not the names of the wire.
struct PublicNamesTests {
    private static let forUsers = [
        "Access", "AnyElement", "Element<Float>", "ElementCatalogue", "ElementChoice", "ElementChoices<Int8>",
        "ElementDefinition", "ElementRepresentable", "ElementType", "ElementValue", "EndlessDelays",
        "ExponentialDelays", "JSON<[Int]>", "ListedDelays", "Matrix4x4", "Transport", "ValueRefusal", "Vector2",
        "Vector3", "Vector4", "WireError",
    ]
    private static let ofTheWire = [
        "DatagramDecoder", "Envelope", "Hello", "ReceivedBytes", "StreamDecoder",
    ]
    private static let ofThePackage = [
        "ByteReader", "ChoiceTable", "ConnectionTarget", "NearNames", "PeerCertificate", "Piece", "PieceAssembler",
        "PinMatch", "PinVerdict", "PlainForm", "StateDirectory", "SystemElement", "ValueType",
    ]

    private static func program(_ modules: [String], _ names: [String]) -> String {
        (modules.map { "import \($0)" } + names.map { "print((\($0)).self)" }).joined(separator: "\n")
    }

    @Test
    func whatUsersNeedIsThere() async throws {
        let complaint = try await SwiftCompiler().compile(
            Self.program(
                ["Elemental"], Self.forUsers.map { $0.hasSuffix("able") || $0.hasPrefix("Any") ? "any \($0)" : $0 }))
        #expect(complaint.isEmpty, "\(complaint)")
    }

    @Test
    func theNamesOfTheWireAreElementalWiresAlone() async throws {
        let compiler = try SwiftCompiler()
        let complaint = try await compiler.compile(Self.program(["Elemental"], Self.ofTheWire + Self.ofThePackage))
        for name in Self.ofTheWire + Self.ofThePackage {
            #expect(complaint.contains("cannot find '\(name)' in scope"), "\(complaint)")
        }
        let modules = ["Elemental", "ElementalSecurity", "ElementalWire"]
        let other = try await compiler.compile(Self.program(modules, Self.ofTheWire.filter { $0 != "StreamDecoder" }))
        #expect(other.isEmpty, "\(other)")
        let hidden = try await compiler.compile(Self.program(modules, Self.ofThePackage))
        for name in Self.ofThePackage {
            #expect(hidden.contains("cannot find '\(name)' in scope"), "\(hidden)")
        }
    }
}

import ArgumentParser
import Elemental

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What the commands take that connect to a service.
struct ClientOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "SERVICE, 'SERVICE/INSTANCE NAME' or HOST:PORT.",
            discussion: "SERVICE alone is enough where only one is on the network. An IPv6 address goes in brackets."),
        transform: Target.init(parsing:))
    var target: Target

    @Option(help: ArgumentHelp("What this client calls itself (default: elemental@HOST).", valueName: "name"))
    var name: String?

    func validate() throws {
        if name?.isEmpty == true { throw ValidationError("--name takes a name that is not empty") }
    }

    /// The name that the service is told.
    var clientName: String { name ?? Self.defaultName }

    static var defaultName: String {
        var buffer = [UInt8](repeating: 0, count: 256)
        let result = buffer.withUnsafeMutableBytes { bytes in
            bytes.withMemoryRebound(to: CChar.self) { text in
                text.baseAddress.map { gethostname($0, text.count - 1) }
            }
        }
        let name = String(decoding: buffer.prefix { $0 != 0 && $0 != UInt8(ascii: ".") }, as: UTF8.self)
        return result == 0 && !name.isEmpty ? "elemental@\(name)" : "elemental"
    }
}

/// The elements that a client gives itself, for a service that cannot tell them.
struct ElementOptions: ParsableArguments {
    @Option(
        name: .customLong("element"),
        help: ArgumentHelp(
            "An element, for a service that cannot tell its own; may be given several times.",
            discussion: ElementSpec.form, valueName: "spec"),
        transform: ElementSpec.init(parsing:))
    var specs: [ElementSpec] = []

    func validate() throws { _ = try catalogue }

    /// The elements given, or `nil` for those that the service tells.
    var catalogue: ElementCatalogue? {
        get throws {
            guard !specs.isEmpty else { return nil }
            do {
                return try ElementCatalogue(specs.map(\.definition))
            } catch {
                throw ValidationError(error.message)
            }
        }
    }
}

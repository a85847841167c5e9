import ArgumentParser
import Elemental
import ElementalFollowing
import ElementalWire
import NIOCore
import Support

/// The options of the commands that follow any number of services: which ones, and how to connect to them.
struct ServicesOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "SERVICE, 'SERVICE/INSTANCE NAME' or HOST:PORT (default: every service that is found).",
            discussion: "SERVICE alone stands for all its instances. An IPv6 address goes in brackets.",
            valueName: "target"),
        transform: Target.init(parsing:))
    var targets: [Target] = []

    @Flag(help: "Follow every service that is found, besides the TARGETs.")
    var all = false

    @OptionGroup var following: FollowingOptions

    func validate() throws { try FollowingOptions.check(targets) }

    var followsAll: Bool { all || targets.isEmpty }

    var security: ClientSecurityOptions { following.security }

    /// Makes a follower of the services for a program that can be paired while it follows.
    func makeFollower(
        for programIdentity: ProgramIdentity, _ console: Console, _ output: OutputOptions,
        _ change: (inout FollowerOptions) -> Void = { _ in }
    ) async throws -> FollowedServices {
        try await following.makeFollower(
            with: targets, andAll: followsAll, for: programIdentity, console, output, change)
    }
}

/// How a command connects to the services that it follows.
struct FollowingOptions: ParsableArguments {
    @Option(
        name: .customLong("as"),
        help: ArgumentHelp("The name under which services list this client (default: COMMAND@HOST).", valueName: "name")
    )
    var names: [String] = []

    /// An old spelling of `--as`.
    @Option(name: .customLong("name"), help: .hidden)
    var oldName: String?

    @Option(
        help: ArgumentHelp(
            "Follow only the element of that name; may be given several times (default: all).", valueName: "name"))
    var only: [String] = []

    @OptionGroup var security: ClientSecurityOptions

    /// The default is less than that of ``LimitOptions``, which is for a service that the user has chosen.
    @Option(
        name: .customLong("max-value"),
        help: ArgumentHelp("The maximum length of a value from a service, in bytes.", valueName: "bytes"))
    var maximumValueByteCount = FollowerOptions.maximumValueByteCount

    private static let maximumServiceCount = 256

    func validate() throws {
        if oldName != nil { OldSpelling.note("--name", now: "--as") }
        try ClientName.check(name)
        try LimitOptions.check(maximumValueByteCount)
    }

    private var name: String? { names.last ?? oldName }

    static func check(_ targets: [Target]) throws {
        if targets.count > maximumServiceCount {
            throw ValidationError("at most \(maximumServiceCount) TARGETs can be followed")
        }
    }

    /// Makes a follower of services. It does not run yet, and its events are reported.
    ///
    /// - Parameters:
    ///   - followsAll: whether every service that is found is followed besides the targets.
    ///   - programIdentity: a program with an identity of its own, which is created if there is none; `nil` for the user's identity.
    ///   - change: changes the options. The role that it sets is ignored if `--role` is given.
    func makeFollower(
        with targets: [Target], andAll followsAll: Bool = false, for programIdentity: ProgramIdentity?,
        _ console: Console,
        _ output: OutputOptions,
        _ change: (inout FollowerOptions) -> Void = { _ in }
    ) async throws -> FollowedServices {
        let access = try await security.load(for: programIdentity, makesIdentity: programIdentity != nil)
        var options = FollowerOptions(
            name: name ?? programIdentity.map { ClientName.standard(of: $0.name) } ?? ClientName.standard)
        if name == nil, let programIdentity {
            options.pairingName = ClientName.pairing(of: programIdentity.name, access.paired?.identity.fingerprint)
        }
        options.connect = ConnectOptions(
            timeout: output.limit, limits: DeviceLimits(maximumValueByteCount: maximumValueByteCount),
            security: access.security, logger: output.logger)
        options.maximumServiceCount = Self.maximumServiceCount
        options.keepsLongValuesInDevices = false
        options.onlyElements = Set(only)
        let role = access.security.role
        options.role = { _ in role }
        change(&options)
        if security.role != nil { options.role = { _ in role } }
        var resolved: [Target] = []
        for target in try await targets.followingAliases(security.state, paired: access.paired) {
            resolved.append(await target.resolved(output))
        }
        let subjects = (followsAll ? [.all] : []) + resolved.map(\.subject)
        let followed = FollowedServices(follower: Follower(subjects, options), targets: resolved, access: access)
        let report = FollowingReport(console: console, followed: followed)
        followed.follower.onEvent { report.note($0) }
        return followed
    }
}

/// Services that a command follows, and its identity.
struct FollowedServices: Sendable {
    let follower: Follower
    /// The requested targets, with addresses in place of hosts that the system does not know.
    let targets: [Target]
    let access: ClientAccess
}

extension Target {
    /// The target with the address of a host in `.local` that only Zeroconf knows. A host that is not found now remains
    /// as it is, and is looked up again at each attempt.
    fileprivate func resolved(_ output: OutputOptions) async -> Target {
        guard case .address(let address) = self,
            let host = try? await LocalHost.address(of: address.host, output)
        else { return self }
        return .address(HostPort(host: host, port: address.port))
    }

    var subject: ServiceSubject {
        switch self {
        case .service(let service, let name): .service(service, name: name)
        case .address(let address): .address(host: address.host, port: address.port)
        }
    }

    func covers(_ key: ServiceKey) -> Bool {
        switch self {
        case .service(let service, let name):
            key.service.map(service.isSameName) ?? false && name.map(key.name.isSameName) ?? true
        case .address(let address):
            key == ServiceKey(host: address.host, port: address.port)
        }
    }

    var text: String {
        switch self {
        case .service(let service, nil): service
        case .service(let service, let name?): "\(service)/\(name)"
        case .address(let address): ServicePlace.address(host: address.host, port: address.port).target
        }
    }
}

/// `ELEMENT=NAME` from the command line: an element and its name on the other side of a bridge.
struct ElementMapping: Sendable {
    let element: String
    let name: String

    /// Parses a mapping. The last `=` separates the names, since an element's name may contain one.
    init(parsing text: String) throws(ValidationError) {
        guard let sign = text.lastIndex(of: "="), sign != text.startIndex, text.index(after: sign) != text.endIndex
        else { throw ValidationError("write it as ELEMENT=NAME, as in 'Left arm=MoveArm'") }
        element = String(text[..<sign])
        name = String(text[text.index(after: sign)...])
    }
}

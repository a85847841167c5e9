import ArgumentParser
import Elemental
import ElementalSecurity
import Support

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The user's own names for TARGETs, kept in the state directory.
struct Aliases: Sendable {
    /// The targets as they were typed, by alias.
    private(set) var targets: [String: String] = [:]

    static let file = "aliases.json"
    static let maximumCount = 256
    static let maximumByteCount = 64 * 1024
    private static let maximumTargetByteCount = 512

    init() {}

    init(parsing bytes: [UInt8]) throws(CommandFailure) {
        guard let targets = try? JSONDecoder().decode([String: String].self, from: Data(bytes)) else {
            throw CommandFailure("corrupt", "it is not a JSON object of names and TARGETs")
        }
        for (alias, target) in targets.sorted(by: { $0.key < $1.key }) { try set(alias, to: target) }
    }

    /// The target of the alias with exactly this name; `nil` if there is none.
    subscript(alias: String) -> Target? { targets[alias].flatMap { try? Target(parsing: $0) } }

    /// Adds an alias, or changes the one of that name.
    mutating func set(_ alias: String, to target: String, pinned: [TrustedService] = []) throws(CommandFailure) {
        func invalid(_ message: String) -> CommandFailure { CommandFailure("invalidName", message) }
        do {
            guard !alias.hasPrefix("-"), case .service(alias, name: nil) = try Target(parsing: alias) else {
                throw invalid(
                    "'\(alias.excerpt)' cannot be an alias: type it like a SERVICE, without '/' and ':'; it may "
                        + "not begin with '-'")
            }
            guard !target.hasPrefix("-"), target.utf8.count <= Self.maximumTargetByteCount else {
                throw invalid("'\(target.excerpt)' is not a TARGET: an alias cannot stand for an option")
            }
            if case .service(let service, name: nil) = try Target(parsing: target) {
                guard targets[service] == nil, service != alias else {
                    throw invalid("'\(service.excerpt)' is an alias itself: give the TARGET that it stands for")
                }
            }
        } catch let problem as ValidationError {
            throw invalid(problem.description)
        } catch {
            throw CommandFailure(error)
        }
        if let other = targets.first(where: { $0.key != alias && $0.value == alias })?.key {
            throw invalid(
                "'\(alias)' cannot be an alias, because the alias '\(other)' stands for the service '\(alias)'")
        }
        if let service = pinned.first(where: { $0.hasName(alias) }) {
            throw CommandFailure("nameConflict", Self.shadows(alias, service) + "; choose another name")
        }
        guard targets[alias] != nil || targets.count < Self.maximumCount else {
            throw CommandFailure("full", "there are \(Self.maximumCount) aliases already; remove one first")
        }
        targets[alias] = target
    }

    /// Removes an alias, and returns its target; `nil` if there is no such alias.
    mutating func remove(_ alias: String) -> String? { targets.removeValue(forKey: alias) }

    var bytes: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(targets)).map { Array($0) + [UInt8(ascii: "\n")] } ?? []
    }

    fileprivate static func shadows(_ alias: String, _ service: TrustedService) -> String {
        "the alias '\(alias)' would hide the paired service '\(service.service)/\(service.instance)'"
    }
}

extension TrustedService {
    fileprivate func hasName(_ name: String) -> Bool { service.isSameName(as: name) || instance.isSameName(as: name) }
}

extension StateOptions {
    /// Reads the aliases. There are none if no state directory is known. Blocks.
    func aliases() throws -> Aliases {
        guard let file = try? stateFile(Aliases.file), let bytes = try file.read(limit: Aliases.maximumByteCount) else {
            return Aliases()
        }
        do throws(CommandFailure) {
            return try Aliases(parsing: bytes)
        } catch {
            throw CommandFailure(error.code, "\(file.directory)/\(file.name) is damaged: \(error.description)")
        }
    }

    /// Changes the aliases. Blocks.
    func updateAliases(_ change: (inout Aliases) throws(CommandFailure) -> Void) throws {
        _ = try aliases()
        var failure: CommandFailure?
        try stateFile(Aliases.file).update(limit: Aliases.maximumByteCount, createsDirectory: true) { content in
            do throws(CommandFailure) {
                var aliases =
                    try content.map { bytes throws(CommandFailure) in try Aliases(parsing: bytes) } ?? Aliases()
                try change(&aliases)
                guard aliases.bytes.count <= Aliases.maximumByteCount else {
                    throw CommandFailure("full", "the aliases take too much space; remove one first")
                }
                return aliases.bytes
            } catch {
                failure = error
                return nil
            }
        }
        if let failure { throw failure }
    }

    /// A file of the state directory, whether it is there or not.
    func stateFile(_ name: String) throws(SecurityError) -> StateFile {
        StateFile(
            directory: try StateDirectory.path(explicit: state, environment: StateDirectory.environment), name: name)
    }

    /// The services that this user is paired with; none without an identity. Blocks.
    func pinnedServices() throws -> [TrustedService] {
        try existing()?.trust.read().services.filter { !$0.isPending } ?? []
    }
}

extension [Target] {
    /// The targets with their aliases replaced, as ``Target/followingAlias(_:paired:)`` does it.
    func followingAliases(_ state: StateOptions, paired: SecurityState? = nil) async throws -> [Target] {
        var targets: [Target] = []
        for target in self { targets.append(try await target.followingAlias(state, paired: paired)) }
        return targets
    }
}

extension Target {
    /// The target itself or, if it is an alias that this client may use, the target that the alias stands for.
    func followingAlias(for access: ClientAccess) async throws -> Target {
        guard let state = access.aliases else { return self }
        return try await followingAlias(state, paired: access.paired)
    }

    /// The target of an alias, or the target itself if it is not an alias.
    ///
    /// An alias is ignored if a paired service or its instance has its name. This, and a file that cannot be used, is
    /// reported on standard error.
    ///
    /// - Parameter paired: the identity that connects, if it is not the user's.
    func followingAlias(_ state: StateOptions, paired: SecurityState? = nil) async throws -> Target {
        guard case .service(let alias, name: nil) = self else { return self }
        return try await Blocking.run {
            func tell(_ line: String) { StandardStreams.shared.offer([Styled("elemental: \(line)")], to: .error) }
            let target: Target
            do {
                guard let found = try state.aliases()[alias] else { return self }
                target = found
            } catch {
                tell("the aliases are ignored: \(CommandFailure(error).description)")
                return self
            }
            var pinned = try state.pinnedServices()
            if let paired { pinned += try paired.trust.read().services.filter { !$0.isPending } }
            guard let service = pinned.first(where: { $0.hasName(alias) }) else { return target }
            tell("\(Aliases.shadows(alias, service)), and is ignored")
            return self
        }
    }
}

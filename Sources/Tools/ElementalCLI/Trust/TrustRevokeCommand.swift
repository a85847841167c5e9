import ArgumentParser
import ElementalSecurity

struct TrustRevokeCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "No longer trust a peer.",
        discussion: """
            Connections of a client that is no longer trusted end within two seconds. Clients that it has let in remain, and \
            are listed.

              $ elemental trust revoke Laptop
              $ elemental trust revoke robot/Rover
            """)

    @Argument(
        help: ArgumentHelp(
            "A client's name, a service as SERVICE/INSTANCE or INSTANCE, or a whole fingerprint.", valueName: "peer"))
    var peer: String

    @OptionGroup var state: StateOptions
    @OptionGroup var output: OutputOptions

    func perform(_ console: Console) async throws {
        guard let state = try await state.openExisting() else {
            throw CommandFailure("unknownPeer", "nobody is trusted yet: there is no peer '\(peer)' to revoke")
        }
        let peer = peer
        let revocation = try await Blocking.run { try state.trust.update { try $0.revoke(peer) } }
        for client in revocation.clients { await console.emit(.trusted(client, isRevoked: true)) }
        for service in revocation.services { await console.emit(.trusted(service, isRevoked: true)) }
        for client in revocation.letIn {
            await console.talk("still trusted: '\(client.name)', which '\(peer)' has let in")
            if output.json { await console.emit(.trusted(client)) }
        }
    }
}

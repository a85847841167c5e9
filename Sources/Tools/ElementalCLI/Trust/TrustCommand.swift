import ArgumentParser

struct TrustCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trust",
        abstract: "Show this user's fingerprint, and whom it trusts.",
        discussion: """
            Services and clients know each other by fingerprints of their keys. To let a client use a service that is for \
            paired clients, add each end's fingerprint to the other's list: the client's at the service, and the service's \
            at the client.

              $ elemental trust
              $ elemental trust add FINGERPRINT-OF-THE-LAPTOP --name Laptop --role control
              $ elemental trust add FINGERPRINT-OF-THE-PI --name robot/Rover
              $ elemental trust list
              $ elemental trust revoke Laptop
            """,
        subcommands: [
            TrustShowCommand.self, TrustListCommand.self, TrustAddCommand.self, TrustRevokeCommand.self,
            TrustResetCommand.self,
        ],
        defaultSubcommand: TrustShowCommand.self)
}

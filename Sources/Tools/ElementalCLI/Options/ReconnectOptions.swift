import ArgumentParser
import Elemental

/// The option of the commands that can outlast a connection to a service.
struct ReconnectOptions: ParsableArguments {
    @Flag(
        help: ArgumentHelp(
            "When the connection is lost, connect again, until Ctrl-C.",
            discussion: """
                Attempts come 1, 2, 4 s and so on up to 30 s apart, and at once when the service is seen to return. A \
                service given by its name is found again at another address or port.
                """))
    var reconnect = false

    var policy: (any ReconnectionPolicy)? { reconnect ? Self.untilInterrupted : nil }

    static var untilInterrupted: any ReconnectionPolicy {
        .exponential(first: .seconds(1), factor: 2, maximum: .seconds(30), jitter: 0)
    }
}

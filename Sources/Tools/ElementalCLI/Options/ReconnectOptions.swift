import ArgumentParser
import Elemental

/// What the commands take that keep a connection.
struct ReconnectOptions: ParsableArguments {
    @Flag(
        help: ArgumentHelp(
            "When the connection is lost, connect again, until Ctrl-C.",
            discussion: """
                Attempts come 1, 2, 4 s and so on up to 30 s apart, and at once when the service is seen to return. One \
                that was named by SERVICE is found again at another address or port.
                """))
    var reconnect = false

    var policy: (any ReconnectionPolicy)? {
        reconnect ? .exponential(first: .seconds(1), factor: 2, maximum: .seconds(30), jitter: 0) : nil
    }
}

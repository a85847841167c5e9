import NIOCore
import NIOPosix
import Support
import TestSupport
import Testing

/// What went wrong in the network, in words.
struct NetworkFailureTests {
    @Test(arguments: [
        (ECONNREFUSED, "nothing listens there"),
        (ECONNRESET, "the peer reset the connection (its program was killed or refused the data)"),
        (EHOSTUNREACH, "the peer's network is unreachable"),
        (EMFILE, "this process cannot open more files and sockets; raise the limit (ulimit -n)"),
        (ENOENT, "No such file or directory"),
    ])
    func systemErrors(_ code: CInt, _ reason: String) {
        let failure = NetworkFailure(IOError(errnoCode: code, reason: "connect"))
        #expect(failure.reason == reason)
        #expect(failure.error is IOError)
    }

    @Test
    func aTimeOutSaysItsTime() {
        let failure = NetworkFailure(ChannelError.connectTimeout(.seconds(3)))
        #expect(failure.reason == "no answer within 3.0 seconds")
        guard case .timedOut(.seconds(3)) = failure.kind else { return #expect(Bool(false), "\(failure.kind)") }
    }

    @Test
    func anUnknownHostIsToldInTheSystemsWords() async throws {
        do {
            let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connect(host: "no host has spaces", port: 1).get()
            try await channel.close()
            Issue.record("connected")
        } catch {
            let failure = NetworkFailure(error)
            #expect(failure.reason.hasPrefix("the host is unknown ("))
            #expect(failure.error is SocketAddressError.UnknownHost)
            guard case .unknownHost = failure.kind else { return #expect(Bool(false), "\(failure.kind)") }
        }
    }

    @Test
    func ofSeveralAddressesTheFirstFailureCounts() async throws {
        // `localhost` may be two addresses; nothing listens at either.
        let port = try PortLease.port()
        do {
            let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connect(host: "localhost", port: port).get()
            try await channel.close()
            Issue.record("connected")
        } catch {
            #expect(error is NIOConnectionError)
            #expect(NetworkFailure(error).error is IOError)
            #expect(NetworkFailure(error).reason == "nothing listens there")
        }
    }
}

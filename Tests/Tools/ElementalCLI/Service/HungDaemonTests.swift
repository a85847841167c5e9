import Foundation
import TestSupport
import Testing

/// A service whose Zeroconf daemon does not answer any more.
@Suite(.needsAvahi)
struct HungDaemonTests {
    @Test(.backstop)
    func aServiceDoesNotWaitForItToEnd() async throws {
        try await PrivateAvahi.with(hostName: "hung") { avahi in
            let publish = ["publish", "robot", "--json", "--element", "1:Speed:float=0"]
            try await withCommand(publish, environment: avahi.environment) { service in
                _ = try await service.nextEvent("published")
                avahi.suspend(true)
                // D-Bus gives up a call after 25 s: the service ends before this one does.
                let call = ["--system", "--print-reply", "--reply-timeout=25000", "--dest=org.freedesktop.Avahi", "/"]
                try await ChildProcess.with(
                    "dbus-send", call + ["org.freedesktop.Avahi.Server.GetState"], environment: avahi.environment
                ) { call in
                    try await service.expectExit(0, after: SIGINT)
                    #expect(call.isRunning)
                }
            }
        }
    }
}

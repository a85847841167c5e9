import NIOCore
import Testing

@testable import Elemental

/// When a server that cannot accept connections retries.
struct AcceptPauseTests {
    @Test("retries are delayed up to a second, and the delay is reset by a success")
    func delays() {
        var pause = AcceptPause()
        var delays: [TimeAmount?] = []
        for _ in 0..<6 {
            delays.append(pause.begin())
            #expect(pause.isOn)
            let goesOn = pause.end()
            #expect(goesOn)
        }
        #expect(delays == [100, 200, 400, 800, 1000, 1000].map { TimeAmount.milliseconds($0) })
        pause.succeed()
        let first = pause.begin()
        #expect(first == .milliseconds(100))
    }

    @Test
    func oneFailureAfterTheOtherIsOnePause() {
        var pause = AcceptPause()
        let begun = (pause.begin(), pause.begin())
        #expect(begun.0 != nil)
        #expect(begun.1 == nil)
        let ended = (pause.end(), pause.end())
        #expect(ended == (true, false))
        #expect(!pause.isOn)
    }
}

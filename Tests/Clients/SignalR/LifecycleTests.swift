import Support
import TestSupport
import Testing

@testable import SignalR

/// Starting, stopping, time-outs, and their events.
struct LifecycleTests {
    @Test
    func aLevelIsEnoughToLog() {
        let builder = HubConnectionBuilder(url: "http://127.0.0.1:1/hub")
        #expect(builder.withLogging(minimum: .debug).build().logger.logLevel == .debug)
        #expect(builder.withLogging(minimum: .critical).build().logger.logLevel == .critical)
    }

    @Test
    func aCancelledHandlerOfEventsIsNotCalled() async throws {
        let (kept, cancelled) = (Transcript<String>(), Transcript<String>())
        try await withHub { connection, hub, _ in
            connection.onClosed { _ in kept.add("closed") }
            connection.onClosed { _ in cancelled.add("closed") }.cancel()
            connection.onEvent { _ in cancelled.add("event") }.cancel()
            async let goodbye: Void = hub.goodbye()
            await connection.stop()
            try await goodbye
            #expect(kept.all == ["closed"])
            #expect(cancelled.all.isEmpty)
        }
    }

    @Test
    func aConnectionIsStartedOnceAndAgainAfterItStopped() async throws {
        try await withHub { connection, hub, server in
            let events = record(connection)
            #expect(await signalRError { try await connection.start() }?.code == .alreadyStarted)
            async let goodbye: Void = hub.goodbye()
            await connection.stop()
            try await goodbye
            #expect(connection.state == .disconnected)
            #expect(connection.connectionID == nil)
            await connection.stop()
            #expect(await signalRError { try await connection.send("X") }?.code == .notConnected)
            async let script = server.negotiatedHub()
            try await connection.start()
            let again = try await script
            async let answer: Int = connection.invoke("X")
            #expect(try await again.message() == #"{"type":1,"invocationId":"1","target":"X","arguments":[]}"#)
            try again.say(#"{"type":3,"invocationId":"1","result":1}"#)
            #expect(try await answer == 1)
            async let end: Void = again.goodbye()
            await connection.stop()
            try await end
            #expect(events.all == ["closed: -", "opened", "closed: -"])
        }
    }

    @Test
    func nothingCanBeCalledBeforeItIsOpen() async throws {
        let server = try ScriptedServer()
        let connection = patientHub(url: server.url).build()
        // Held, or its end would end the attempt.
        var peer: ScriptedPeer?
        for _ in 0..<2 {
            #expect(await signalRError { try await connection.invoke("X") }?.code == .notConnected)
            #expect(await signalRError { try await connection.send("X") }?.code == .notConnected)
            #expect(await signalRError { _ = try await connection.stream("X", of: Int.self) }?.code == .notConnected)
            guard connection.state == .disconnected else { break }
            // And again while it is being opened.
            Task { try? await connection.start() }
            peer = try await server.accept()
            _ = try await peer?.request()
            #expect(connection.state == .connecting)
        }
        #expect(await signalRError { try await connection.start() }?.code == .alreadyStarted)
        withExtendedLifetime(peer) {}
        await connection.stop()
        #expect(connection.state == .disconnected)
    }

    @Test
    func eventsAreAStreamToo() async throws {
        let server = try ScriptedServer()
        let connection = patientHub(url: server.url).build()
        var events = connection.events.makeAsyncIterator()
        async let script: Void = server.negotiatedHub().goodbye()
        try await connection.start()
        await connection.stop()
        try await script
        guard case .opened = await events.next() else { return #expect(Bool(false)) }
        guard case .closed(nil) = await events.next() else { return #expect(Bool(false)) }
    }

    @Test
    func eachKindOfEventHasItsHandler() async throws {
        let notes = Transcript<String>()
        let server = try ScriptedServer()
        let connection = patientHub(url: server.url).withAutoReconnect(delays: [.zero]).build()
        connection.onOpened { notes.add("opened") }
        connection.onFailedToOpen { notes.add("failed \($0.code)") }
        connection.onWillReconnect { notes.add("will \($0.map { "\($0.code)" } ?? "-")") }
        connection.onDidReconnect { notes.add("did") }
        connection.onClosed { notes.add("closed \($0.map { "\($0.code)" } ?? "-")") }
        async let refused = server.answer("", status: "403 Forbidden")
        #expect(await signalRError { try await connection.start() }?.code == .refused)
        _ = try await refused
        async let script = server.negotiatedHub()
        try await connection.start()
        try await script.closeOutput()
        let second = try await server.negotiatedHub()
        for expected in ["failed refused", "opened", "will connectionLost", "did"] {
            #expect(try await notes.next() == expected)
        }
        async let goodbye: Void = second.goodbye()
        await connection.stop()
        try await goodbye
        #expect(try await notes.next() == "closed -")
    }

    @Test
    func stoppingResumesAllWaiters() async throws {
        try await withHub { connection, hub, _ in
            async let call = signalRError { try await connection.invoke("A") }
            _ = try await hub.message()
            async let stream = signalRError { for try await _ in try await connection.stream("B", of: Int.self) {} }
            _ = try await hub.message()
            async let goodbye: Void = hub.goodbye()
            await connection.stop()
            try await goodbye
            #expect(await call?.code == .stopped)
            #expect(await stream?.code == .stopped)
        }
    }

    @Test
    func stoppingReturnsEvenIfTheServerDoesNotAnswer() async throws {
        // The scripted hub does not read any more.
        try await withHub { connection, _, _ in
            let events = record(connection)
            async let second: Void = connection.stop()
            await connection.stop()
            await second
            #expect(events.all == ["closed: -"])
        }
    }

    @Test
    func aCancelledTaskStopsInOrderToo() async throws {
        try await withHub { connection, hub, _ in
            let tasks = (0..<2).map { _ in
                let task = Task {
                    await Latch().wait()
                    await connection.stop()
                    return connection.state
                }
                task.cancel()
                return task
            }
            let message = try await hub.message()
            #expect(message.contains("\"type\":7"))
            hub.closeOutput()
            for task in tasks { #expect(await task.value == .disconnected) }
        }
    }

    @Test
    func stoppingWhileOpening() async throws {
        let server = try ScriptedServer()
        let connection = patientHub(url: server.url).build()
        let events = record(connection)
        async let started = signalRError { try await connection.start() }
        let peer = try await server.accept()
        _ = try await peer.request()
        await connection.stop()
        #expect(await started?.code == .stopped)
        try await peer.readToEnd()
        #expect(events.all == ["failed to open: stopped"])
    }

    @Test
    func cancellingTheStart() async throws {
        let server = try ScriptedServer()
        let connection = patientHub(url: server.url).build()
        let task = Task { try await connection.start() }
        let peer = try await server.accept()
        _ = try await peer.request()
        task.cancel()
        #expect(await signalRError { try await task.value }?.code == .cancelled)
        #expect(connection.state == .disconnected)
        try await peer.readToEnd()
        // A provider that ignores the cancellation delays nobody.
        let waiting = Transcript<Void>()
        let other = patientHub(url: server.url).withAccessToken {
            waiting.add(())
            await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
            return nil
        }.build()
        let start = Task { try await other.start() }
        try await waiting.next()
        start.cancel()
        #expect(await signalRError { try await start.value }?.code == .cancelled)
    }

    @Test
    func theHubMayCloseTheConnection() async throws {
        for (message, ending) in [
            (#"{"type":7}"#, "closed: -"), (#"{"type":7,"error":"bye"}"#, "closed: closedByServer"),
            // Without automatic reconnection it is closed all the same.
            (#"{"type":7,"error":"bye","allowReconnect":true}"#, "closed: closedByServer"),
        ] {
            try await withHub { connection, hub, _ in
                let (events, reasons) = (record(connection), Transcript<SignalRError?>())
                connection.onClosed { reasons.add($0) }
                async let call = signalRError { try await connection.invoke("A") }
                _ = try await hub.message()
                try hub.say(message)
                let reason = try await reasons.next()
                #expect(events.all == [ending])
                #expect(reason?.message.contains("bye") ?? true)
                #expect(await call != nil)
                #expect(connection.state == .disconnected)
                try await hub.readToEnd()
            }
        }
    }

    /// A hub may reject a client right after the handshake, and both can arrive in one read.
    @Test(arguments: [
        (#"{"type":7,"error":"not you"}"# + "\u{1e}", "closed: closedByServer"), ("", "closed: -"),
    ])
    func aCallAndACloseTogetherWithTheHandshakeAreReported(_ last: String, _ ending: String) async throws {
        let server = try ScriptedServer()
        let connection = patientHub(url: server.url).build()
        let said = Transcript<Int>()
        connection.on("N") { (number: Int) in said.add(number) }
        let events = record(connection)
        async let script: ScriptedPeer = {
            try await server.negotiate()
            let peer = try await server.webSocket()
            _ = try await peer.frame()
            let call = #"{"type":1,"target":"N","arguments":[3]}"# + "\u{1e}"
            try peer.write(
                ScriptedPeer.frame(Array(("{}\u{1e}" + call + last).utf8))
                    + ScriptedPeer.frame([0x03, 0xE8], opcode: 8))
            return peer
        }()
        try await connection.start()
        _ = try await script
        #expect(try await said.next() == 3)
        #expect(try await events.next() == "opened")
        #expect(try await events.next() == ending)
        #expect(connection.state == .disconnected)
        #expect(await signalRError { try await connection.invoke("X") }?.code == .notConnected)
    }

    @Test
    func handlersInTasksOfTheirOwnAreCountedToo() async throws {
        // They end when they like, cancelled or not.
        let held = Transcript<CheckedContinuation<Void, Never>>()
        try await withHub(
            prepare: { connection in
                connection.on("X") { () async -> Int in
                    await withCheckedContinuation { held.add($0) }
                    return 0
                }
            }
        ) { connection, hub, _ in
            let events = Transcript<SignalRError?>()
            connection.onClosed { events.add($0) }
            // Without an id, and with one that is used again.
            for id in ["", #""invocationId":"1","#] {
                let call = #"{"type":1,\#(id)"target":"X","arguments":[]}"#
                for _ in 0..<5 { try hub.say(Array(repeating: call, count: 1000).joined(separator: "\u{1e}")) }
            }
            try hub.say(#"{"type":1,"target":"X","arguments":[]}"#)
            #expect(try await events.next()?.code == .bufferOverflow)
            for _ in 0..<10_000 { try await held.next().resume() }
        }
    }

    @Test
    func handlersThatDoNotKeepUpEndTheConnection() async throws {
        let gate = Transcript<Void>()
        try await withHub(
            { $0.withOptions { $0.maximumUndeliveredSize = 10_000 } },
            prepare: { connection in
                connection.on("X") { try await gate.next() }
            }
        ) { connection, hub, _ in
            let events = Transcript<SignalRError?>()
            connection.onClosed { events.add($0) }
            // The connection may end before all of them are sent.
            for _ in 0..<100 where (try? hub.say(#"{"type":1,"target":"X","arguments":[]}"#)) == nil { break }
            let end = try await events.next()
            #expect(end?.code == .bufferOverflow)
            for _ in 0..<100 { gate.add(()) }
        }
    }
}

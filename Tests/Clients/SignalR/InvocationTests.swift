import SignalR
import TestSupport
import Testing

/// Calls in both directions, against a scripted server.
struct InvocationTests {
    struct Point: Codable, Sendable, Equatable {
        var x: Int
        var y: Double
    }

    @Test
    func aCallIsAnswered() async throws {
        let server = try ScriptedServer()
        async let script: Void = {
            let hub = try await server.negotiatedHub()
            #expect(
                try await hub.message() == #"{"type":1,"invocationId":"1","target":"Add","arguments":[40,2]}"#)
            try hub.say(#"{"type":3,"invocationId":"1","result":42}"#)
            try await hub.goodbye()
        }()
        let connection = patientHub(url: server.url).build()
        try await connection.start()
        #expect(connection.state == .connected)
        #expect(connection.connectionID == "id")
        #expect(connection.transport == .webSockets)
        let sum: Int = try await connection.invoke("Add", 40, 2)
        #expect(sum == 42)
        await connection.stop()
        #expect(connection.state == .disconnected)
        try await script
    }

    @Test
    func callsAreAnsweredInAnyOrder() async throws {
        try await withHub { connection, hub, _ in
            async let first: String = connection.invoke("A")
            #expect(try await hub.message() == #"{"type":1,"invocationId":"1","target":"A","arguments":[]}"#)
            async let second = connection.invoke("B", Point(x: 1, y: 2.5), returning: Point.self)
            _ = try await hub.message()
            try hub.say(
                #"{"type":3,"invocationId":"9","result":0}"#, #"{"type":3,"invocationId":"2","result":{"x":3,"y":4}}"#)
            #expect(try await second == Point(x: 3, y: 4))
            try hub.say(#"{"result":"é\n","invocationId":"1","type":3}"#)
            #expect(try await first == "é\n")
        }
    }

    @Test
    func missingResultsAndErrors() async throws {
        try await withHub { connection, hub, _ in
            async let void: Void = connection.invoke("A")
            _ = try await hub.message()
            try hub.say(#"{"type":3,"invocationId":"1"}"#)
            try await void
            async let optional: Int? = connection.invoke("B")
            _ = try await hub.message()
            try hub.say(#"{"type":3,"invocationId":"2"}"#)
            #expect(try await optional == nil)

            async let missing = signalRError { let _: Int = try await connection.invoke("C") }
            _ = try await hub.message()
            try hub.say(#"{"type":3,"invocationId":"3"}"#)
            #expect(await missing?.code == .invalidResult)
            async let other = signalRError { let _: Int = try await connection.invoke("D") }
            _ = try await hub.message()
            try hub.say(#"{"type":3,"invocationId":"4","result":"x"}"#)
            #expect(await other?.code == .invalidResult)
            async let failed = signalRError { try await connection.invoke("E") }
            _ = try await hub.message()
            try hub.say(#"{"type":3,"invocationId":"5","error":"It didn't work!"}"#)
            let error = await failed
            #expect(error?.code == .invocationFailed)
            #expect(error?.message == "It didn't work!")
            #expect(await signalRError { try await connection.invoke("F", Double.nan) }?.code == .invalidArgument)
        }
    }

    @Test
    func sendsWantNoAnswer() async throws {
        try await withHub { connection, hub, _ in
            try await connection.send("Log", "x", nil as Int?, headers: ["a": "b"])
            #expect(
                try await hub.message() == #"{"type":1,"headers":{"a":"b"},"target":"Log","arguments":["x",null]}"#)
        }
    }

    @Test
    func sendsOfOneTaskKeepTheirOrder() async throws {
        try await withHub { connection, hub, _ in
            async let sent: Void = {
                for number in 0..<500 { try await connection.send("N", number) }
            }()
            for number in 0..<500 {
                #expect(try await hub.message() == #"{"type":1,"target":"N","arguments":[\#(number)]}"#)
            }
            try await sent
        }
    }

    @Test
    func aCancelledCallReturnsAtOnceAndTheHubIsTold() async throws {
        try await withHub { connection, hub, _ in
            let task = Task { try await connection.invoke("Slow", returning: Int.self) }
            _ = try await hub.message()
            task.cancel()
            #expect(await signalRError { _ = try await task.value }?.code == .cancelled)
            #expect(try await hub.message() == #"{"type":5,"invocationId":"1"}"#)
            // Its answer, when it comes, is left out.
            try hub.say(#"{"type":3,"invocationId":"1","result":1}"#)
            async let next: Int = connection.invoke("Next")
            _ = try await hub.message()
            try hub.say(#"{"type":3,"invocationId":"2","result":2}"#)
            #expect(try await next == 2)
        }
    }

    // MARK: - Streams

    @Test
    func aStreamGivesItsItemsAndEnds() async throws {
        try await withHub { connection, hub, _ in
            let stream = try await connection.stream("Counter", 3, of: Int.self)
            #expect(try await hub.message() == #"{"type":4,"invocationId":"1","target":"Counter","arguments":[3]}"#)
            try hub.say(
                #"{"type":2,"invocationId":"1","item":0}"#, #"{"type":2,"invocationId":"1","item":1}"#,
                #"{"type":2,"invocationId":"1","item":2}"#, #"{"type":3,"invocationId":"1"}"#)
            var items: [Int] = []
            for try await item in stream { items.append(item) }
            #expect(items == [0, 1, 2])
        }
    }

    @Test
    func aStreamsErrorFollowsItsItems() async throws {
        try await withHub { connection, hub, _ in
            let stream: HubStream<Int> = try await connection.stream("Counter")
            try hub.say(
                #"{"type":2,"invocationId":"1","item":7}"#, #"{"type":3,"invocationId":"1","error":"Ran out of data!"}"#
            )
            var iterator = stream.makeAsyncIterator()
            #expect(try await iterator.next() == 7)
            let error = await signalRError { _ = try await iterator.next() }
            #expect(error?.code == .invocationFailed)
            #expect(error?.message == "Ran out of data!")
        }
    }

    @Test
    func leavingAStreamInAnyWayCancelsItOnTheServer() async throws {
        try await withHub { connection, hub, _ in
            // The task that iterates is cancelled while it waits.
            let started = Transcript<Void>()
            let task = Task {
                await signalRError {
                    for try await _ in try await connection.stream("A", of: Int.self) { started.add(()) }
                }
            }
            _ = try await hub.message()
            try hub.say(#"{"type":2,"invocationId":"1","item":7}"#)
            try await started.next()
            task.cancel()
            #expect(await task.value?.code == .cancelled)
            #expect(try await hub.message() == #"{"type":5,"invocationId":"1"}"#)
            // The loop is left.
            do {
                let stream = try await connection.stream("B", of: Int.self)
                _ = try await hub.message()
                try hub.say(#"{"type":2,"invocationId":"2","item":7}"#)
                for try await _ in stream { break }
            }
            #expect(try await hub.message() == #"{"type":5,"invocationId":"2"}"#)
            // It is cancelled by name.
            let stream = try await connection.stream("C", of: Int.self)
            _ = try await hub.message()
            stream.cancel()
            #expect(try await hub.message() == #"{"type":5,"invocationId":"3"}"#)
            // An item is of another type.
            async let wrong = signalRError { for try await _ in try await connection.stream("D", of: Int.self) {} }
            _ = try await hub.message()
            try hub.say(#"{"type":2,"invocationId":"4","item":"x"}"#)
            #expect(await wrong?.code == .invalidResult)
            #expect(try await hub.message() == #"{"type":5,"invocationId":"4"}"#)
        }
    }

    @Test
    func anUnconsumedStreamIsBounded() async throws {
        try await withHub({ $0.withOptions { $0.maximumUndeliveredSize = 10_000 } }) { connection, hub, _ in
            let stream = try await connection.stream("A", of: Int.self)
            _ = try await hub.message()
            for _ in 0..<1000 { try hub.say(#"{"type":2,"invocationId":"1","item":7}"#) }
            #expect(try await hub.message() == #"{"type":5,"invocationId":"1"}"#)
            var count = 0
            let error = await signalRError { for try await _ in stream { count += 1 } }
            #expect(error?.code == .bufferOverflow)
            #expect((1..<1000).contains(count), "what was kept is given before the error")
        }
    }

    @Test
    func streamsGoToTheHub() async throws {
        try await withHub { connection, hub, _ in
            let numbers = AsyncStream { continuation in
                for number in 1...3 { continuation.yield(number) }
                continuation.finish()
            }
            async let sum: Int = connection.invoke("Sum", 10, streams: [ClientStream(numbers)])
            #expect(
                try await hub.message()
                    == #"{"type":1,"invocationId":"1","target":"Sum","arguments":[10],"streamIds":["2"]}"#)
            for number in 1...3 {
                #expect(try await hub.message() == #"{"type":2,"invocationId":"2","item":\#(number)}"#)
            }
            #expect(try await hub.message() == #"{"type":3,"invocationId":"2"}"#)
            try hub.say(#"{"type":3,"invocationId":"1","result":16}"#)
            #expect(try await sum == 16)
        }
    }

    @Test
    func aStreamToTheHubThatFailsSaysSo() async throws {
        struct Broken: Error, CustomStringConvertible { var description: String { "broken" } }
        try await withHub { connection, hub, _ in
            let numbers = AsyncThrowingStream<Int, any Error> { continuation in
                continuation.yield(1)
                continuation.finish(throwing: Broken())
            }
            try await connection.send("Take", streams: [ClientStream(numbers)])
            #expect(try await hub.message() == #"{"type":1,"target":"Take","arguments":[],"streamIds":["1"]}"#)
            #expect(try await hub.message() == #"{"type":2,"invocationId":"1","item":1}"#)
            #expect(try await hub.message() == #"{"type":3,"invocationId":"1","error":"broken"}"#)
        }
    }

    @Test
    func aStreamToTheHubIsLeftWhenTheCallIsOver() async throws {
        try await withHub { connection, hub, _ in
            let ended = Transcript<Void>()
            let numbers = AsyncStream<Int> { continuation in
                continuation.onTermination = { _ in ended.add(()) }
                continuation.yield(1)
            }
            async let call: Void = connection.invoke("Take", streams: [ClientStream(numbers)])
            _ = try await hub.message()
            #expect(try await hub.message() == #"{"type":2,"invocationId":"2","item":1}"#)
            try hub.say(#"{"type":3,"invocationId":"1"}"#)
            try await call
            try await ended.next()
        }
    }
}

import SignalR
import Support
import TestSupport
import Testing

/// Calls of the hub, and the handlers of a client.
struct HandlerTests {
    @Test
    func theHubCallsHandlersWithAnyNumberOfArguments() async throws {
        let notes = Transcript<String>()
        try await withHub(prepare: { connection in
            connection.on("Nothing") { notes.add("nothing") }
            connection.on("AddMessage") { (user: String, message: String) in notes.add("\(user): \(message)") }
            connection.on("Point") { (point: InvocationTests.Point, flag: Bool?, more: [Int]) in
                notes.add("\(point.x) \(point.y) \(flag.map { "\($0)" } ?? "nil") \(more)")
            }
            connection.onAny("Any") { arguments in
                let all: [Int] = try arguments.decodeAll()
                notes.add("\(try arguments.count) \(all) \(arguments.headers)")
            }
            connection.onAny("At") { arguments in
                notes.add("\(try arguments.decode(Int.self, at: 1)) \(try arguments.decode(String.self, at: 0))")
            }
        }) { _, hub, _ in
            // Names in other cases, arguments that are too many, of other types or too few, methods that are not known.
            try hub.say(
                #"{"type":1,"target":"Nothing","arguments":[]}"#,
                #"{"type":1,"target":"addmessage","arguments":["Ada","Hello",1]}"#,
                #"{"type":1,"target":"AddMessage","arguments":["Ada"]}"#,
                #"{"type":1,"target":"AddMessage","arguments":[1,2]}"#,
                #"{"type":1,"target":"Unknown","arguments":[1,2]}"#,
                #"{"type":1,"target":"Point","arguments":[{"x":1,"y":2},null,[3,4]]}"#,
                #"{"type":1,"target":"Any","headers":{"a":"b"},"arguments":[1,2,3]}"#,
                #"{"type":1,"target":"At","arguments":["x",5]}"#)
            for expected in ["nothing", "Ada: Hello", "1 2.0 nil [3, 4]", #"3 [1, 2, 3] ["a": "b"]"#, "5 x"] {
                #expect(try await notes.next() == expected)
            }
        }
    }

    @Test
    func handlersRunInOrderOneAtATime() async throws {
        let notes = Transcript<Int>()
        try await withHub(prepare: { connection in
            connection.on("N") { (number: Int) in
                await Task.yield()
                notes.add(number)
            }
        }) { _, hub, _ in
            for number in 0..<200 { try hub.say(#"{"type":1,"target":"N","arguments":[\#(number)]}"#) }
            for number in 0..<200 { #expect(try await notes.next() == number) }
        }
    }

    @Test
    func aHandlerMayCallTheHub() async throws {
        let notes = Transcript<Int>()
        try await withHub(prepare: { connection in
            connection.on("Ask") { (number: Int) in notes.add(try await connection.invoke("Double", number)) }
        }) { _, hub, _ in
            try hub.say(#"{"type":1,"target":"Ask","arguments":[21]}"#)
            #expect(try await hub.message() == #"{"type":1,"invocationId":"1","target":"Double","arguments":[21]}"#)
            try hub.say(#"{"type":3,"invocationId":"1","result":42}"#)
            #expect(try await notes.next() == 42)
        }
    }

    @Test
    func handlersComeAndGo() async throws {
        let notes = Transcript<String>()
        try await withHub { connection, hub, _ in
            let first = connection.on("X") { (text: String) in notes.add("first \(text)") }
            connection.on("X") { (text: String) in notes.add("second \(text)") }
            try hub.say(#"{"type":1,"target":"X","arguments":["a"]}"#)
            #expect(try await notes.next() == "first a")
            #expect(try await notes.next() == "second a")
            first.cancel()
            try hub.say(#"{"type":1,"target":"X","arguments":["b"]}"#)
            #expect(try await notes.next() == "second b")
            connection.off("X")
            connection.on("X") { (text: String) in notes.add("third \(text)") }
            try hub.say(#"{"type":1,"target":"X","arguments":["c"]}"#)
            #expect(try await notes.next() == "third c")
        }
    }

    @Test
    func theHubGetsResults() async throws {
        struct Refusal: Error, CustomStringConvertible { var description: String { "no" } }
        let waiting = Transcript<Void>()
        try await withHub(prepare: { connection in
            connection.on("Confirm") { (question: String) -> Bool in question == "Really?" }
            connection.on("Refuse") { () async throws -> Int in throw Refusal() }
            connection.on("Note") { (_: String) in }
            connection.on("Wait") { () async throws -> Int in
                waiting.add(())
                await Latch().wait()
                try Task.checkCancellation()
                return 1
            }
        }) { _, hub, _ in
            try hub.say(#"{"type":1,"invocationId":"a","target":"Confirm","arguments":["Really?"]}"#)
            #expect(try await hub.message() == #"{"type":3,"invocationId":"a","result":true}"#)
            try hub.say(#"{"type":1,"invocationId":"b","target":"Refuse","arguments":[]}"#)
            #expect(try await hub.message() == #"{"type":3,"invocationId":"b","error":"no"}"#)
            for target in ["Note", "Unknown"] {
                try hub.say(#"{"type":1,"invocationId":"c","target":"\#(target)","arguments":["x"]}"#)
                #expect(
                    try await hub.message()
                        == #"{"type":3,"invocationId":"c","error":"Client didn't provide a result."}"#)
            }
            // Wrong arguments.
            try hub.say(#"{"type":1,"invocationId":"d","target":"Confirm","arguments":[1]}"#)
            #expect(try await hub.message().hasPrefix(#"{"type":3,"invocationId":"d","error":"#))
            // The hub asks for a stream, which a client does not have.
            try hub.say(#"{"type":4,"invocationId":"e","target":"Confirm","arguments":[]}"#)
            #expect(try await hub.message().hasPrefix(#"{"type":3,"invocationId":"e","error":"#))
            // The hub no longer wants it: nothing is answered, but what comes next is.
            try hub.say(#"{"type":1,"invocationId":"f","target":"Wait","arguments":[]}"#)
            try await waiting.next()
            try hub.say(
                #"{"type":5,"invocationId":"f"}"#, #"{"type":1,"invocationId":"g","target":"Confirm","arguments":[""]}"#
            )
            #expect(try await hub.message() == #"{"type":3,"invocationId":"g","result":false}"#)
        }
    }
}

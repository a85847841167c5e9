import SignalR
import TestSupport
import Testing

/// Calls both ways, against a server that says what the test has it say.
struct InvocationTests {
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
        let connection = HubConnectionBuilder(url: server.url).build()
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
}

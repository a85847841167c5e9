import TestSupport

/// What the program sends: commands to the modem, and the values in those that are for the clients.
struct ProgramOutput {
    struct Command: Equatable {
        let code: UInt8
        let bytes: [UInt8]
    }

    struct Value: Equatable {
        let element: UInt8
        let bytes: [UInt8]
    }

    private(set) var values: [Value] = []
    /// Received commands other than values that have not been checked.
    private(set) var commands: [Command] = []
    private var bytes: [UInt8] = []
    /// The bytes of the commands taken out of `bytes`.
    private var taken = 0

    mutating func receive(_ received: [UInt8]) throws {
        bytes += received
        while bytes.count - taken >= 2, bytes.count - taken >= 2 + Int(bytes[taken + 1]) {
            let command = Command(code: bytes[taken], bytes: Array(bytes[(taken + 2)...].prefix(Int(bytes[taken + 1]))))
            taken += 2 + command.bytes.count
            guard command.code == 6 else {
                commands.append(command)
                continue
            }
            let envelope = command.bytes
            guard envelope.count > 5, Int(envelope[1]) == envelope.count - 5, envelope[2...4] == [0, 0, 0] else {
                throw TestSupportError("no envelope: \(envelope)")
            }
            values.append(Value(element: envelope[0], bytes: Array(envelope[5...])))
        }
    }

    /// Takes the next command, which has to be the given one.
    mutating func expect(_ command: Command) throws {
        let next = commands.removeFirst()
        guard next == command else { throw TestSupportError("the command \(next) came, not \(command)") }
    }
}

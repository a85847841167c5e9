import ArgumentParser
import Elemental

/// Sends values to a service.
struct SetCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Send values to a service and make sure that they arrived.",
        discussion: """
            Numbers are decimal or 0x and hexadecimal digits; bool takes true/false, yes/no, on/off, 1/0; vectors are \
            numbers joined by commas; data is pairs of hexadecimal digits. What does not fit the element's type is \
            refused. @FILE reads a string or data from a file, @/dev/stdin what is piped in; a text that begins with @ \
            itself is written with @@.

              $ elemental set robot Speed=0.5 'Left arm=0,0.5,1'
              $ elemental set display Picture=@picture.png
              $ elemental set 192.168.1.7:5000 Light=on --element 1:Light:bool
            """)

    @OptionGroup var client: ClientOptions

    @Argument(help: ArgumentHelp("Elements and their values.", valueName: "name=value"))
    var assignments: [String]

    @OptionGroup var element: ElementOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        for text in assignments where !text.contains("=") {
            throw ValidationError("'\(text.excerpt)' is no NAME=VALUE")
        }
    }

    func perform(_ console: Console) async throws {
        let catalogue = try element.catalogue
        try await Interruption.run(console, .task) { [client, assignments, output] in
            try await Client.with(
                client.target, as: client.clientName, output, console, elements: catalogue,
                limits: client.limits.device, showsIncoming: false
            ) { client in
                // All are read before the first is sent, so that a mistake in the last one changes nothing.
                var read: [Assignment] = []
                for text in assignments {
                    read.append(
                        try await Assignment(
                            parsing: text, among: client.elements, of: client.device.name,
                            readingFilesFor: output.limit))
                }
                try await client.send(read, timeout: output.limit)
                for assignment in read {
                    await console.emit(.set(assignment.element, assignment.value, device: client.device.name))
                }
            }
        }
    }
}

extension Client {
    /// How often values over UDP are sent before they count as lost.
    private static let attempts = 5

    /// Sends values and waits until the service has them.
    func send(_ assignments: [Assignment], timeout: Duration) async throws {
        // Whether an empty value may be sent depends on what the service is.
        if assignments.contains(where: { $0.value.wireByteCount == 0 }) { await waitForHello(timeout) }
        let refusals = Refusals(of: device)
        try await transfer(assignments, timeout)
        // Kept for the return; what is not kept throws.
        if device.isReconnecting { return }
        do throws(ElementalError) {
            if assignments.contains(where: { $0.element.transport == .tcp }) {
                try await settle(timeout: timeout)
            }
            let datagrams = assignments.filter { $0.element.transport == .udp }
            if !datagrams.isEmpty {
                try await confirm(datagrams, timeout: timeout)
                // Refusals come over TCP, before the answer to this.
                try await settle(timeout: timeout)
            }
        } catch {
            if let reason = device.disconnectReason { throw Self.ended(device, reason) }
            // Datagrams have words of their own.
            let hasStream = assignments.contains { $0.element.transport == .tcp }
            guard error.code == .timedOut, hasStream else { throw error }
            throw CommandFailure(
                "timedOut",
                "sent, but \(device.name) did not confirm it within \(timeout); it may be busy with what came before, and "
                    + "--timeout gives it more time")
        }
        if let failure = refusals.failure(of: device.name, among: assignments.map(\.element)) { throw failure }
    }

    /// Sends the values and waits until the service has taken the large ones, which go in pieces that a ping overtakes.
    private func transfer(_ assignments: [Assignment], _ timeout: Duration) async throws {
        let wait = try await transfers.limit(to: timeout, for: assignments.map(\.element.id), .outgoing) {
            for assignment in assignments {
                if !device.isReconnecting { try await device.waitForRoom(for: assignment.value.wireByteCount) }
                try device.send(assignment.value, to: assignment.element)
            }
            if !device.isReconnecting { try await device.waitUntilSent() }
        }
        guard let wait else { return }
        try Task.checkCancellation()
        let amounts = assignments.compactMap { assignment in
            wait.amount(of: assignment.element.id).map { "\($0) of '\(assignment.element.name)'" }
        }
        throw CommandFailure(
            "timedOut",
            "\(device.name) takes nothing more, or too little, within \(timeout); the values have not all arrived"
                + (amounts.isEmpty ? "" : " (\(amounts.joined(separator: ", ")))"))
    }

    /// A datagram may be lost; a ping behind the values that is answered makes it very likely that they were not.
    private func confirm(_ assignments: [Assignment], timeout: Duration) async throws(ElementalError) {
        for attempt in 1...Self.attempts {
            do {
                return try await settle(over: .udp, timeout: timeout / Self.attempts)
            } catch {
                guard error.code == .timedOut else { throw error }
                guard attempt < Self.attempts else {
                    throw ElementalError(
                        .timedOut,
                        "sent, but \(device.name) does not answer over UDP; the values may be lost (is UDP blocked?)")
                }
                for assignment in assignments { try device.send(assignment.value, to: assignment.element) }
            }
        }
    }
}

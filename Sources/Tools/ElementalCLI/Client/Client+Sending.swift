import Elemental

extension Client {
    /// Sends values and waits until the service has handled them.
    func send(_ assignments: [Assignment], timeout: Duration) async throws {
        // The service's hello decides whether an empty value may be sent.
        if assignments.contains(where: { $0.value.wireByteCount == 0 }) { await device.waitForHello(timeout) }
        let refusals = Refusals(of: device)
        do {
            try await transfer(assignments, timeout)
        } catch let error as ElementalError where error.code == .notAllowed {
            throw await explain(error, assignments, timeout)
        }
        // The device keeps the values until the service returns. For a value that it does not keep, `send` has thrown.
        if device.isReconnecting { return }
        do throws(ElementalError) {
            try await device.waitUntilHandled(assignments.map { ($0.element, $0.value) }, timeout: timeout)
        } catch {
            if let reason = device.disconnectReason { throw Self.ended(device, reason) }
            // If all values went in datagrams, the error already says what happened.
            guard error.code == .timedOut, assignments.contains(where: { $0.element.transport == .tcp }) else {
                throw error
            }
            throw CommandFailure(
                "timedOut",
                "sent, but \(device.name) did not confirm it within \(timeout); it may be busy with earlier values: "
                    + "give a longer --timeout")
        }
        if let error = refusals.error(from: device.name, among: assignments.map(\.element)) { throw refused(error) }
    }

    /// Explains why an element is read-only: for all clients, or for this client's role. The catalogue shows both
    /// alike, so this sends the value and examines the service's answer.
    private func explain(
        _ error: ElementalError, _ assignments: [Assignment], _ timeout: Duration
    ) async -> CommandFailure {
        guard device.hello != nil, !device.isReconnecting,
            let assignment = assignments.first(where: { !$0.element.access.contains(.write) }),
            let element = try? ElementDefinition(
                id: Int(assignment.element.id), name: assignment.element.name, type: assignment.element.type)
        else { return CommandFailure(error) }
        do throws(ElementalError) {
            try await device.set(assignment.value, to: element, timeout: timeout)
        } catch {
            if error.code == .notAuthorised { return refused(error) }
        }
        return CommandFailure(error)
    }

    private func refused(_ error: ElementalError) -> CommandFailure {
        CommandFailure(
            error.code.description,
            error.message + (error.code == .notAuthorised ? pairing.adviceToControl(device) : ""))
    }

    /// Sends the values and waits until the service has accepted the large ones, which go in pieces that a ping overtakes.
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
            "\(device.name) accepted too little within \(timeout); some values have not arrived, so give a longer --timeout"
                + (amounts.isEmpty ? "" : " (\(amounts.joined(separator: ", ")))"))
    }
}

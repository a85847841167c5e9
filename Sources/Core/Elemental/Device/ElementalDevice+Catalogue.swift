public import ElementalWire
import Support

extension ElementalDevice {
    /// Returns the catalogue that the service announces: names, types and metadata of its elements, for untyped use.
    ///
    /// A client requests it when it connects; this waits until it has arrived.
    /// - Parameter timeout: how long to wait.
    /// - Throws: ``ElementalError`` with the code ``ElementalError/Code/catalogueUnavailable`` if the service does not
    ///   send it in time (an older ElementalController never does), ``ElementalError/Code/invalidCatalogue``
    ///   immediately if it cannot be decoded, ``ElementalError/Code/notConnected``, or
    ///   ``ElementalError/Code/cancelled`` if the task is cancelled while it waits.
    public func catalogue(timeout: Duration = .seconds(2)) async throws(ElementalError) -> ElementCatalogue {
        _ = await state.withLock { $0.catalogueSettled }.wait(timeout, on: eventLoop)
        switch state.withLock({ $0.identity.catalogue }) {
        case .success(let catalogue): return catalogue
        case .failure(let problem): throw .invalidCatalogue(problem.message)
        case nil: break
        }
        if let reason = disconnectReason { throw ElementalError(.notConnected, "the connection has ended: \(reason)") }
        if Task.isCancelled { throw ElementalError(.cancelled, "the wait for the catalogue was cancelled") }
        throw ElementalError(
            .catalogueUnavailable,
            "'\(name)' did not tell its elements within \(timeout)"
                + (hello == nil ? "; it is an older ElementalController or not an element service" : "")
                + ". Give the elements yourself")
    }
}

extension ElementalDevice {
    /// - Parameter catalogue: `nil` if it will not arrive.
    func settleCatalogue(_ catalogue: Result<ElementCatalogue, WireError>?) {
        let settled = state.withLock { state in
            if let catalogue { state.identity.catalogue = catalogue }
            return state.catalogueSettled
        }
        settled.open()
    }
}

extension ElementalError {
    /// - Parameter problem: what is wrong with the service's catalogue, as a sentence.
    static func invalidCatalogue(_ problem: String) -> ElementalError {
        ElementalError(
            .invalidCatalogue,
            "\(problem). It is for the service to mend; to go on without its list, give the elements yourself")
    }
}

extension ElementCatalogue {
    /// Compares a program's elements with those that a service announces.
    ///
    /// - Returns: a message about the elements whose types differ, `nil` if there are none; and the elements that the
    ///   service lacks.
    func compare(
        with service: ElementCatalogue, of serviceName: String
    ) -> (mismatch: String?, missing: IdentifierSet) {
        var problems: [String] = []
        var missing = IdentifierSet()
        for element in self {
            guard let other = service[id: element.id] else {
                missing.insert(element.id)
                continue
            }
            guard other.type != element.type else { continue }
            let theirs = other.name == element.name ? "" : " ('\(other.name)')"
            problems.append(
                "element \(element.id) '\(element.name)' is \(element.type) in this program and \(other.type)\(theirs) in "
                    + "the service '\(serviceName)'")
        }
        return (problems.isEmpty ? nil : problems.joined(separator: "; "), missing)
    }
}

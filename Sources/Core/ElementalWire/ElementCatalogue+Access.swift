extension ElementCatalogue {
    /// The catalogue as a client of that role receives it: without the elements that it may not read, and with those
    /// that it may not set marked as read-only.
    package func visible(to role: Role, under policy: SecurityPolicy) -> ElementCatalogue {
        let visible = elements.compactMap { element -> ElementDefinition? in
            let access = policy.access(of: role, to: element)
            return access.isEmpty ? nil : element.limited(to: access)
        }
        do {
            return try ElementCatalogue(visible)
        } catch {
            preconditionFailure(error.message)
        }
    }
}

extension ElementDefinition {
    /// The definition with this access, which is not empty.
    fileprivate func limited(to access: Access) -> ElementDefinition {
        guard access != self.access else { return self }
        var fields = fields
        fields.access = access
        return ElementDefinition(fields: fields)
    }
}

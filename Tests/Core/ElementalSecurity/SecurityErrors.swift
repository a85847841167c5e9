import ElementalSecurity

/// The error that the body throws.
func securityError(_ body: () throws -> Void) -> SecurityError? {
    do {
        try body()
        return nil
    } catch {
        return error as? SecurityError
    }
}

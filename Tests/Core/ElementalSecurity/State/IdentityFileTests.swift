import Foundation
import TestSupport
import Testing

@testable import ElementalSecurity

/// An identity's file that changes while the identity is used.
struct IdentityFileTests {
    @Test(arguments: [
        // The same key in another file, as an editor leaves it.
        ("cp identity.pem copy && mv copy identity.pem", nil),
        ("touch identity.pem", nil),
        ("rm identity.pem", SecurityError.Code.missing),
        ("mv ../other/identity.pem identity.pem", .replaced),
        ("echo damaged > identity.pem", .corrupt),
        ("chmod 644 identity.pem", .insecure),
        ("mv ../state ../elsewhere", .missing),
    ])
    func onlyItsOwnKeyCounts(_ change: String, _ code: SecurityError.Code?) async throws {
        try await withFolder { folder in
            for isNew in [true, false] {
                let state = try SecurityState(directory: folder + "/\(isNew)/state")
                _ = try SecurityState(directory: folder + "/\(isNew)/other")
                let identity = isNew ? state.identity : try SecurityState(directory: state.directory).identity
                try identity.checkIsCurrent()
                try await ChildProcess.run("sh", ["-c", "cd \(state.directory) && umask 077 && \(change)"])
                #expect(securityError { try identity.checkIsCurrent() }?.code == code)
            }
        }
    }
}

import Testing

@testable import ElementalSecurity

struct StateDirectoryTests {
    private static let all = [
        "ELEMENTAL_STATE": "/elemental", "STATE_DIRECTORY": "/var/lib/elemental", "XDG_STATE_HOME": "/xdg",
        "HOME": "/home/pi",
    ]

    private static func environment(without names: String...) -> [String: String] {
        all.filter { !names.contains($0.key) }
    }

    @Test(
        arguments: [
            ("/given", all, "/given"),
            (nil, all, "/elemental"),
            (nil, environment(without: "ELEMENTAL_STATE"), "/var/lib/elemental"),
            (nil, environment(without: "ELEMENTAL_STATE", "STATE_DIRECTORY"), "/xdg/elemental"),
            (nil, ["HOME": "/home/pi"], "/home/pi/.local/state/elemental"),
            // What is empty is not set, and a relative path of XDG is ignored.
            (
                nil, ["ELEMENTAL_STATE": "", "STATE_DIRECTORY": "", "XDG_STATE_HOME": "", "HOME": "/root"],
                "/root/.local/state/elemental"
            ),
            (nil, ["XDG_STATE_HOME": "state", "HOME": "/root"], "/root/.local/state/elemental"),
            // systemd separates several by colons.
            (nil, ["STATE_DIRECTORY": "/var/lib/a:/var/lib/b", "HOME": "/root"], "/var/lib/a"),
        ] as [(String?, [String: String], String)])
    func theFirstThatIsSetCounts(_ explicit: String?, _ environment: [String: String], _ expected: String) throws {
        #expect(try StateDirectory.path(explicit: explicit, environment: environment) == expected)
    }

    @Test(arguments: [(nil, [:]), (nil, ["HOME": "relative"]), ("", all)] as [(String?, [String: String])])
    func withoutAnyTheErrorSaysWhatToSet(_ explicit: String?, _ environment: [String: String]) {
        let error = #expect(throws: SecurityError.self) {
            try StateDirectory.path(explicit: explicit, environment: environment)
        }
        #expect(error?.code == .noStateDirectory)
        #expect(error?.message.contains("--state DIR") == true)
    }
}

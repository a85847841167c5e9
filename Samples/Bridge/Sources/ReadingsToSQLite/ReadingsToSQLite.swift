import ArgumentParser
import Elemental
import ElementalFollowing
import SQLiteBridge
import SampleSecurity

@main
struct ReadingsToSQLite: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ReadingsToSQLite",
        abstract: "Keeps services' readings in a SQLite file, and sets their elements from it.",
        usage: """
            ReadingsToSQLite house.db
            ReadingsToSQLite house.db --service lamp --every 60
            sqlite3 house.db "SELECT * FROM readings"
            sqlite3 house.db "INSERT INTO wishes VALUES ('lamp', 'Desk lamp', 'Brightness', 0.5, NULL)"
            """)

    @Argument(help: "The file, which is made if it is not there.")
    var file: String

    @Option(help: "The service's name, such as lamp; may be given several times. (default: every service)")
    var service: [String] = []

    @Option(help: ArgumentHelp("The minimum time between two readings of an element.", valueName: "seconds"))
    var every = 1.0

    @OptionGroup var security: ConnectingOptions

    func run() async throws {
        let subjects: [ServiceSubject] = service.isEmpty ? [.all] : service.map { .service($0) }
        try await untilInterrupted { [file, every, connect = try security.connectOptions] in
            try await bridge(subjects, to: file, every: .seconds(every), connect: connect)
        }
    }
}

import ArgumentParser
import CommodoreGateway

/// The speed of a line.
struct BaudOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The line's speed in bits a second, the same at both ends: \(Self.list)."))
    var baud = 1200

    func validate() throws {
        guard GatewayConfiguration.bauds.contains(baud) else {
            throw ValidationError("--baud takes \(Self.list), not \(baud)")
        }
    }

    private static var list: String { GatewayConfiguration.bauds.map(String.init).joined(separator: ", ") }
}

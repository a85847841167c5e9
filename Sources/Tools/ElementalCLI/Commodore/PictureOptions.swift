import ArgumentParser
import VirtualCommodore

/// Options that save pictures of a virtual Commodore's screen at the end.
struct PictureOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Save the screen as a PNG file at the end.", valueName: "file"))
    var png: String?

    @Option(help: "The width and height in the PNG of one pixel of the screen, 1 to 8.")
    var scale = 2

    @Option(help: ArgumentHelp("Save the screen as an SVG file at the end.", valueName: "file"))
    var svg: String?

    func validate() throws {
        guard (1...8).contains(scale) else { throw ValidationError("--scale takes 1 to 8, not \(scale)") }
    }

    var areWanted: Bool { png != nil || svg != nil }

    /// Writes the requested files.
    func save(_ picture: Picture) throws {
        if let png { try FileContent.write(picture.png(scale: scale), to: png) }
        if let svg { try FileContent.write(picture.svg().utf8, to: svg) }
    }
}

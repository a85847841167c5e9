import ArgumentParser
import VirtualCommodore

/// Pictures of a virtual Commodore's screen, saved at the end.
struct PictureOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Save a picture of the screen at the end.", valueName: "file"))
    var png: String?

    @Option(help: "How many points of the PNG stand for one of the screen, 1 to 8.")
    var scale = 2

    @Option(help: ArgumentHelp("Save a drawing of the screen at the end.", valueName: "file"))
    var svg: String?

    func validate() throws {
        guard (1...8).contains(scale) else { throw ValidationError("--scale takes 1 to 8, not \(scale)") }
    }

    /// Whether any is asked for.
    var areWanted: Bool { png != nil || svg != nil }

    /// Writes the files that were asked for.
    ///
    /// - Throws: ``CommandFailure`` if one cannot be written.
    func save(_ picture: Picture) throws {
        if let png { try FileContent.write(picture.png(scale: scale), to: png) }
        if let svg { try FileContent.write(picture.svg().utf8, to: svg) }
    }
}

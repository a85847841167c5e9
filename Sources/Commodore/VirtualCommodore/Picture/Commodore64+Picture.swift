extension Commodore64 {
    /// The picture that the video chip would produce from the current registers and memory.
    ///
    /// Text, extended colours, multicolour, bitmaps, sprites, fine scrolling and both border widths are shown.
    public func picture() -> Picture {
        withVideo { memory in
            let renderer = Renderer(memory)
            return renderer.picture(memory)
        }
    }
}

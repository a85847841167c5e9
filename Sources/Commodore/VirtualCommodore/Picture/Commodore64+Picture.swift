extension Commodore64 {
    /// The picture that the video chip would produce from the current registers and memory.
    ///
    /// Text, extended colours, multicolour, bitmaps, sprites, fine scrolling and both border widths are shown.
    public func picture() -> Picture { videoSnapshot().picture() }

    /// What the video chip sees now, for a picture that is rendered later or elsewhere.
    package func videoSnapshot() -> VideoSnapshot { withVideo { VideoSnapshot($0) } }
}

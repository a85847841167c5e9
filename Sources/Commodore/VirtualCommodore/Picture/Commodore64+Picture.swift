extension Commodore64 {
    /// The picture that the video chip would produce from the current registers and memory.
    ///
    /// Text, extended colours, multicolour, bitmaps, sprites, fine scrolling and both border widths are shown.
    public func picture() -> Picture { videoSnapshot().picture() }

    /// A snapshot for the video chip's current picture, which can be rendered later or on another thread.
    package func videoSnapshot() -> VideoSnapshot { withVideo { VideoSnapshot($0) } }
}

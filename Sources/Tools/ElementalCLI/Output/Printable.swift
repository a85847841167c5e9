import Support

/// The text as it can go to a terminal, where names, texts and values from the network must not move the cursor, end the
/// line or be invisible.
func printable(_ text: String) -> String { text.printable }

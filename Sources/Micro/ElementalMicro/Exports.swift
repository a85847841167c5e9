@_exported public import ElementalWire
@_exported public import SerialLink

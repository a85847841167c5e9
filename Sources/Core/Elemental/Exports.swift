// One import is enough: the elements, their values and catalogues are part of what a service or client is.
@_exported public import ElementalWire

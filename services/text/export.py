"""Words of the room `export`: key -> (English, Chinese)."""

WORDS: dict[str, tuple[str, str]] = {
}

"""Words of the room `dataset`: key -> (English, Chinese)."""

WORDS: dict[str, tuple[str, str]] = {
}

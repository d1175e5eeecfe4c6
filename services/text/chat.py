"""Words of the room `chat`: key -> (English, Chinese)."""

WORDS: dict[str, tuple[str, str]] = {
}

"""The nouns: frozen, validated records that every room passes to the next; no I/O."""

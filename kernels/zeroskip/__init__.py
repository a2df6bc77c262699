"""The zero-skip linear operator. It knows nothing of language models, and importing it needs no GPU."""

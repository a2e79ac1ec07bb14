"""A language model, as GPT had it and as today's models have it."""

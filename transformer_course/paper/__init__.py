"""The Transformer as published: Vaswani et al., "Attention Is All You Need", NIPS 2017, section by section."""

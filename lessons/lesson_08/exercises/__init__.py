"""What lesson 08 asks of the learner: cases, mistakes and variants, one module per group of symbols."""

"""Learning from rewards: no answers to copy, only how good one's own were."""

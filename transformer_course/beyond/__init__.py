"""The encoder in other domains: film reviews, time series and pictures."""

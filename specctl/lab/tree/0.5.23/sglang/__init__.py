"""The lab's stand-in for SGLang 0.5.23: what a practice host has installed, in our own words."""

"""Probes a judge for biases: each probe an effect with its interval and a plain verdict."""

"""Asks any language model, once per distinct request; the cache and the limits wrap the call."""

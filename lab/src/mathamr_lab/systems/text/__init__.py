"""How text encoders are trained alone: from pairs of many kinds, and from a larger one."""

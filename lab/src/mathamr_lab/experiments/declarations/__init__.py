"""One experiment per module, with the thesis's figures beside each variant."""

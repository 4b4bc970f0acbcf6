"""One experiment a module, with the thesis's figures beside each variant."""

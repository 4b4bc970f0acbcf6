"""Trials: experiments that train many small models and rank by them, on a machine with only torch, numpy and tokenizers."""

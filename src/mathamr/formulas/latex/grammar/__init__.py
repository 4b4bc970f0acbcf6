"""The grammar of formulas, in layers: rules, groups, factors, formulas."""

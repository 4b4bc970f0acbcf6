"""AsciiDoc documents and AsciiMath, in which their formulas may be written."""

"""Studies: measurements of quality that figures of notes and docs come from, each a command."""

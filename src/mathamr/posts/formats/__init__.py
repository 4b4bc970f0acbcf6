"""One folder or module for each format: what reads it, cuts it into posts and renders its markup."""

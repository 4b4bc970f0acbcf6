"""Wikipedia and other wikis of MediaWiki: XML dumps, and the wikitext in them."""

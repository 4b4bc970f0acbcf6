"""The page that `mathamr evaluate --html` writes: figures, differences by topic, and the topics that explain them."""

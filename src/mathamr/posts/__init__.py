"""Reading mathematical posts: from files to `Post`s, and from posts to passages."""

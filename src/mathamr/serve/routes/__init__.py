"""The routes of the API by topic; each runs its work in a queue of the service and shapes the answer."""

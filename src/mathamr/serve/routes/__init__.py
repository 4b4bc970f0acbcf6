"""The routes of the API by what they are about; each hands its work to a lane and shapes the answer."""

"""Training the text encoder: on the wordings of the pairs whose graphs the graph network is trained on."""

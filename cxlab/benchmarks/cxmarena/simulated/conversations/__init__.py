"""How stand-ins hold a conversation: by a plan that they put into words, or freely, as real writers do."""

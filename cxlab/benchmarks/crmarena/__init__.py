"""CRMArena: agents work the customer records of a company through queries and tools."""

"""The page CRM desk: an organisation's records, a console, the nine tasks, agents' traces, their board and a rating."""

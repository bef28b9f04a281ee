"""A CRM organisation: its objects (`schema`), how records are stored (`tables`), what their ids are (`ids`)."""

"""E-mails: events that people choose, and invitations, by the operator's SMTP server."""

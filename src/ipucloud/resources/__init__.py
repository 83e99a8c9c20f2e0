"""What projects hold and may pay for, of every kind, in one table. Law: each has its row from its creation on."""

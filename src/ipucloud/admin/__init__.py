"""What operators read and change over the API. Law: figures come from the database, with the time they are of."""

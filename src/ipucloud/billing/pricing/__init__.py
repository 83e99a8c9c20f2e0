"""What use costs. Law: a minute takes the price in force when it starts; of a price only an end to come may change."""

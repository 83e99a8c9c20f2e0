"""What exists and what is sold: hardware, flavors, images, recipes, prices. Law: a fact is a row with its source."""

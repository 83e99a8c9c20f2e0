"""What exists and is sold: hardware, flavors, images, recipes, prices. Law: a fact is a row with its source."""

"""What the product is measured against."""

"""What is charged: prices, usage intervals, minutes and money. Law: minutes are derived from intervals, never counted."""

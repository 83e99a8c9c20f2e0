"""Money owed for time used. Law: minutes and costs are derived from intervals, never counted as time passes."""

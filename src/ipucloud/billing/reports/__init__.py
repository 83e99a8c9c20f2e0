"""Reports, forecasts and explanations of charges. Law: a report is the unrounded sum of posted charges."""

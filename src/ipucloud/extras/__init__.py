"""Optional parts, of which an installation may lack any. Law: nothing imports them by name but `ipucloud.parts`."""

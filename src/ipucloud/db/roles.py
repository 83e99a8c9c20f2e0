"""The two database roles: one owns the schema and migrates it, the other works in it and owns nothing."""

OWNER_ROLE = "ipucloud_owner"
APP_ROLE = "ipucloud_app"

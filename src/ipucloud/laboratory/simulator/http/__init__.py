"""The site's HTTP interface, exactly as `ipucloud.wire.site` defines it. Routes translate; the site's parts decide."""

"""PostgreSQL, the only store and the only coordinator: engine, schema base, migrations, the embedded server."""

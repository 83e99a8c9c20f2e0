"""The engine: who looks at what, when, and under which fence. Law: a result counts only under the fence it was made."""

"""Proofs of bills: what a sealed month was made of, signed. Law: a proof needs nobody's word but the key's."""

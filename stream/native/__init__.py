"""Compiled: JSON bytes straight to codes for flat records. `stream.records.json_decoder` reads all others."""

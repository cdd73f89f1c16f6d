"""From JSON bytes straight to codes, for the common flat record; `stream.codec` is the general way."""

"""New pins for old ones: what is newest, at an address or in place, digested and written down."""

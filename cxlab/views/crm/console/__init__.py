"""Console: queries asked of an organisation."""

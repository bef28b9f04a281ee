from hypothesis import settings

# First calls of BLAS, scikit-learn and Chroma are slow, and the machine may be busy.
settings.register_profile("retrieval", deadline=None)
settings.load_profile("retrieval")

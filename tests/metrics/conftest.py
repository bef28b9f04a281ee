from hypothesis import settings

# The oracles (scikit-learn, scipy) are slow on their first call, and the machine may be busy: time is
# measured where it is promised, not by hypothesis.
settings.register_profile("metrics", deadline=None)
settings.load_profile("metrics")

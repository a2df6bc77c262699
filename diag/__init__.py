"""chronodiag: finds out when, where and why a language model gets time wrong."""

__version__ = "0.1.0"

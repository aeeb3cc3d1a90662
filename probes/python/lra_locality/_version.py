"""Version of the package, equal to that of the C programs (CMakeLists.txt)."""

__version__ = "0.1.0"

"""What runs inside the user's processes: standard library, pytest, psutil, relative imports.

Each run copies this package into its scratch folder and loads it from there as
``_invertgate_inside``, so that it is there in every child process, whatever is installed, and is
never itself the code under judgement. PYTEST_DONT_REWRITE
"""

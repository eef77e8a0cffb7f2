"""A TVM of tomorrow: put in front of the fork server as ``sitecustomize``, it changes the real one.

``PLANTED`` says what has changed, in words separated by blanks.
"""

import os
import sys

PLANTED = os.environ.get("PLANTED", "").split()

if PLANTED and any(argument.endswith("entry.py") for argument in sys.orig_argv):
    sys.path.insert(0, os.environ["PLANTED_ROOT"])
    from tvm import relax

    import fixes

    check = relax.analysis.well_formed

    def in_other_words(module):
        try:
            return check(module)
        except ValueError as error:
            raise ValueError(
                str(error).replace("is not defined", "is nowhere to be seen")
            ) from None

    def broken():
        raise RuntimeError("a new fault")

    if "fix" in PLANTED:
        kept = fixes.applied("allocate_workspace")
        kept.__enter__()
    if "drift" in PLANTED:
        relax.analysis.well_formed = in_other_words
    if "blind" in PLANTED:
        relax.analysis.well_formed = lambda module: True
    if "regression" in PLANTED:
        relax.transform.DeadCodeElimination = broken

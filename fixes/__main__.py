"""``python -m fixes``: every fix, and how it stands to the installed TVM."""

from __future__ import annotations

import sys

import fixes


def main() -> int:
    """Print a paragraph for each fix; returns 1 when one has nothing to patch or no use."""
    import tvm

    print(f"TVM {tvm.__version__}")
    idle = False
    for name in fixes.names():
        fix = fixes.get(name)
        state = fixes.state(name)
        idle |= state in (fixes.FixState.NOT_NEEDED, fixes.FixState.NOT_APPLICABLE)
        print(f"\n{name}: {state.value}")
        print(f"  {fix.title} ({fix.issue})")
        print(f"  replaces {fix.replaces}, verified on {', '.join(fix.verified_on)}")
    return int(idle)


if __name__ == "__main__":
    sys.exit(main())

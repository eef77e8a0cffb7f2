"""``python -m fixes``: every fix, and how it stands to the installed TVM."""

from __future__ import annotations

import sys

import fixes


def main() -> int:
    """Print a paragraph for each fix; returns 3 when there is no TVM to try them on."""
    try:
        import tvm
    except Exception as error:  # a TVM with the wrong ffi fails in many ways
        print(f"TVM cannot be imported: {error}", file=sys.stderr)
        return 3
    print(f"TVM {tvm.__version__}")
    for name in fixes.names():
        fix = fixes.get(name)
        print(f"\n{name}: {fixes.state(name).value}")
        print(f"  {fix.title} ({fix.issue})")
        print(f"  replaces {fix.replaces}, verified on {', '.join(fix.verified_on)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

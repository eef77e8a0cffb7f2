"""Which releases a specifier means: dev and post releases count with the release they belong to."""

from __future__ import annotations

from packaging.specifiers import Specifier, SpecifierSet
from packaging.version import Version


def satisfies(specifier: str, version: str) -> bool:
    """Whether `version` is one that `specifier` speaks of.

    Each clause is judged on its own. One that names a dev, pre, post or local version means just
    that and is held against the full version; any other is held against the release alone, so
    that ``0.28.dev12`` satisfies ``>=0.28`` and ``0.27.0.post1`` satisfies ``<=0.27.0``.

    Parameters
    ----------
    specifier : str
        PEP 440, clauses joined by commas; "" means any version.
    version : str
        A PEP 440 version, as TVM reports its own.

    Raises
    ------
    packaging.specifiers.InvalidSpecifier, packaging.version.InvalidVersion
    """
    full = Version(version)
    return all(_holds(clause, full) for clause in SpecifierSet(specifier))


def _holds(clause: Specifier, full: Version) -> bool:
    if clause.operator == "===":  # arbitrary equality compares strings: there is no release in it
        return clause.contains(str(full), prereleases=True)
    named = Version(clause.version.removesuffix(".*"))
    exact = named.is_prerelease or named.is_postrelease or named.local is not None
    return clause.contains(str(full) if exact else full.base_version, prereleases=True)

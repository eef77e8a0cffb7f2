"""Builders that are none."""


def raises():
    raise ValueError("this builder cannot")


def wrong_type():
    return {"not": "a module"}


def wants_arguments(target):
    return target

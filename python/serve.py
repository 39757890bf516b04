"""Serve an environment in Python to Turnwise (docs/python-environments.md).

usage: python3 serve.py gymnasium Taxi-v3
       python3 serve.py textarena GuessTheNumber-v0
       python3 serve.py verifiers my-environment
       python3 serve.py ./my_environment.py:MyEnvironment

It needs nothing but Python 3.9 and the package of the environment, so this folder can be copied.
"""

import argparse
import importlib.util
import json
import os
import sys

sys.dont_write_bytecode = True

from served_http import serve  # noqa: E402  (after the line above, which keeps this folder as it is)

parser = argparse.ArgumentParser(
    description="Serve an environment in Python to Turnwise.",
    formatter_class=argparse.ArgumentDefaultsHelpFormatter,
)
parser.add_argument(
    "kind", help="gymnasium, textarena, verifiers, or FILE.py:NAME of an environment of your own"
)
parser.add_argument("id", nargs="?", help="which environment of that package")
parser.add_argument("--port", type=int, default=8700, help="port to listen on; 0 takes a free one")
parser.add_argument("--host", default="127.0.0.1", help="address to listen on; others need TURNWISE_ENV_KEY")
parser.add_argument("--sessions", type=int, default=64, help="sessions open at once")
parser.add_argument(
    "--lease", type=float, default=300, help="seconds of silence after which a session is closed"
)
parser.add_argument("--max-turns", type=int, help="turns of an episode, where the environment does not say")
parser.add_argument(
    "--set", action="append", default=[], metavar="KEY=JSON", help="an argument of the environment"
)
parser.add_argument("--instructions", default="", help="what the agent reads first")
parser.add_argument(
    "--form", choices=["raw", "tags"], default="raw", help="tags: actions stand in <action>…</action>"
)
parser.add_argument("--actions", help="gymnasium: names of the discrete actions, with commas between them")
parser.add_argument(
    "--invalid-reward", type=float, default=0, help="gymnasium: reward of a text that is no action"
)
parser.add_argument(
    "--pure", action="store_true", help="gymnasium: seed and actions decide all, so recipes may branch"
)
parser.add_argument("--players", type=int, default=1, help="textarena: players of the game")


def argument(text):
    """`size=3` as ("size", 3); what is not JSON is a text."""
    key, _, value = text.partition("=")
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value


def own_environment(place):
    """The class or function that `FILE.py:NAME` names."""
    path, _, name = place.rpartition(":")
    if not os.path.isfile(path):
        parser.error(
            f"there is no file {path!r}; the kind is gymnasium, textarena, verifiers or FILE.py:NAME"
        )
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    spec = importlib.util.spec_from_file_location(os.path.basename(path)[: -len(".py")], path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # pickle and dataclasses look for it there
    spec.loader.exec_module(module)
    return name, getattr(module, name)


def world_of(options):
    settings = dict(map(argument, options.set))
    if options.kind == "textarena":
        from textarena_world import TextArenaWorld

        return TextArenaWorld(options.id, settings, options)
    if options.kind == "verifiers":
        # After the installed ones, an environment may be a file of the present folder.
        sys.path.append(os.getcwd())
        from verifiers_world import VerifiersWorld

        return VerifiersWorld(options.id, settings, options)

    from gymnasium_world import GymnasiumWorld

    if options.kind == "gymnasium":
        import gymnasium

        return GymnasiumWorld(options.id, lambda: gymnasium.make(options.id, **settings), options)
    name, make = own_environment(options.kind)
    return GymnasiumWorld(name, lambda: make(**settings), options)


if __name__ == "__main__":
    given = parser.parse_args()
    if given.kind in ("gymnasium", "textarena", "verifiers") and given.id is None:
        parser.error(f"which environment of {given.kind}?")
    try:
        serve(world_of(given), given)
    except ModuleNotFoundError as missing:
        sys.exit(f"{missing}. Install it into this Python: {sys.executable} -m pip install {missing.name}")

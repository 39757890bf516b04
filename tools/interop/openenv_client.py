"""OpenEnv's own client against `turnwise env serve frozen-lake` (pip install openenv-core).

usage: python openenv_client.py PORT
"""

import asyncio
import sys

from openenv.core.generic_client import GenericEnvClient


async def main(port: int) -> None:
    url = f"ws://127.0.0.1:{port}"
    async with GenericEnvClient(base_url=url) as env:
        result = await env.reset(seed=0, episode_id="interop")
        print("reset  ", result.observation["text"], result.reward, result.done)
        steps = 0
        for word in ["jump", "up", "down", "left", "right"] * 3:
            result = await env.step({"text": word})
            steps += 1
            print("step   ", word, "->", result.observation["text"], result.reward, result.done)
            if result.done:
                break
        state = await env.state()
        print("state  ", state)
        again = await env.reset(seed=0, episode_id="interop")
        print("again  ", again.observation["text"])
        try:
            await env.step({"word": "up"})
        except RuntimeError as error:
            print("refused", str(error)[:90])
    clients = [GenericEnvClient(base_url=url) for _ in range(32)]
    opened = await asyncio.gather(*(client.connect() for client in clients))
    results = await asyncio.gather(*(client.reset(seed=i) for i, client in enumerate(opened)))
    print("32 sessions at once:", len({result.observation["text"] for result in results}), "openings")
    await asyncio.gather(*(client.close() for client in clients))

    sync = GenericEnvClient(base_url=f"http://127.0.0.1:{port}").sync()
    with sync:
        print("sync   ", sync.reset(seed=3).observation["text"])


asyncio.run(main(int(sys.argv[1])))

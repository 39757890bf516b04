"""llama.cpp, as PyPI's package xllamacpp has it built, sampling completions of a GGUF file side by side.

{"file": GGUF, "rows": completions at once, "tokens": of each, "threads": ...}; prints a JSON answer.
"""

import json
import resource
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version

import xllamacpp

request = json.loads(sys.argv[1])
ROWS, TOKENS, THREADS = request["rows"], request["tokens"], request["threads"]

params = xllamacpp.CommonParams()
params.model.path = request["file"]
params.n_parallel = ROWS
params.n_ctx = ROWS * (TOKENS + 64)
params.n_gpu_layers = 0
params.cpuparams.n_threads = THREADS
params.cpuparams_batch.n_threads = THREADS
params.warmup = True
server = xllamacpp.Server(params)


def complete(row):
    asked = {"prompt": chr(97 + row % 26), "n_predict": TOKENS, "ignore_eos": True, "temperature": 1.0}
    asked |= {"top_k": 0, "top_p": 1.0, "min_p": 0.0, "seed": row, "cache_prompt": False, "samplers": ["temperature"]}
    answer = server.handle_completions(asked)
    if isinstance(answer, (str, bytes)):
        answer = json.loads(answer)
    count = answer["usage"]["completion_tokens"] if "usage" in answer else answer["tokens_predicted"]
    assert count == TOKENS, answer
    return count


rates = []
with ThreadPoolExecutor(ROWS) as pool:
    for _ in range(3):
        began = time.perf_counter()
        count = sum(pool.map(complete, range(ROWS)))
        rates.append(count / (time.perf_counter() - began))
peak = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
answer = {"tokensPerSecond": statistics.median(rates[1:]), "version": version("xllamacpp"), "peakResidentMegabytes": peak}
print(json.dumps(answer), flush=True)

"""What official readers find in the files and requests of our sinks, for tools/interop/sinks.ts.

    pip install tensorboard==2.21.0 wandb==0.31.0 opentelemetry-proto==1.45.2

usage: read_sinks.py FOLDER. In it: tb/RUN (TensorBoard), wandb/offline-run-* (W&B), otlp/*.traces and otlp/*.metrics (bodies of
requests), metrics.csv, events.jsonl (the run's own log, which all must agree with).
"""

import csv
import glob
import json
import math
import subprocess
import sys
from pathlib import Path

folder = Path(sys.argv[1])
steps = {}
evaluations = {}
for line in (folder / "events.jsonl").read_text().splitlines():
    event = json.loads(line)
    if event["type"] == "step":
        steps[event["step"]] = {name: float(value) for name, value in event["metrics"].items()}
    if event["type"] == "evaluation":
        evaluations[event["step"]] = event["sampled"]["success"]


def check(reader, name, found, wanted, tolerance=0.0):
    same = found == wanted or (math.isnan(found) and math.isnan(wanted))
    if not same and abs(found - wanted) > tolerance * max(1, abs(wanted)):
        sys.exit(f"{reader}: {name} is {found} and should be {wanted}")


def tensorboard():
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.util import tensor_util

    (run,) = glob.glob(str(folder / "tb" / "*"))
    accumulator = EventAccumulator(run, size_guidance={"tensors": 0})
    accumulator.Reload()
    tags = accumulator.Tags()["tensors"]
    count = 0
    for tag in tags:
        if tag.startswith(("_hparams_", "returns/", "warnings", "eval/")):
            continue
        # The last value of a step: those of an earlier file stay, where a run was resumed.
        values = {e.step: float(tensor_util.make_ndarray(e.tensor_proto)) for e in accumulator.Tensors(tag)}
        for step, value in values.items():
            check("TensorBoard", f"{tag} of step {step}", value, steps[step][tag], 1e-6)
            count += 1
    (histogram, *_) = accumulator.Tensors("returns/training")
    shape = tensor_util.make_ndarray(histogram.tensor_proto).shape
    hparams = [tag for tag in tags if tag.startswith("_hparams_")]
    plugins = {accumulator.SummaryMetadata(tag).plugin_data.plugin_name for tag in tags}
    print(f"TensorBoard      {count} scalars of {len(tags)} tags agree; histogram {shape}; {hparams}; {sorted(plugins)}")


def weights_and_biases():
    (path,) = glob.glob(str(folder / "wandb" / "offline-run-*" / "*.wandb"))
    command = ["wandb", "leet", "inspect", "--json", path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"wandb leet inspect failed: {done.stdout}{done.stderr}")
    records = [json.loads(line) for line in done.stdout.splitlines()]
    rows = [record["history"]["item"] for record in records if record["type"] == "history"]
    assert [row["_step"] for row in rows] == list(range(len(rows))), "rows are not numbered"
    count = 0
    for row in rows:
        for name, value in steps[row["step"]].items() if "reward/mean" in row else ():
            check("W&B", f"{name} of step {row['step']}", float(row[name]), value)
            count += 1
    kinds = sorted({record["type"] for record in records})
    (end,) = [record["exit"] for record in records if record["type"] == "exit"]
    print(f"W&B              {count} values in {len(rows)} rows agree; records {kinds}; exit {end}")


def opentelemetry():
    from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    def attributes(item):
        return {a.key: getattr(a.value, a.value.WhichOneof("value")) for a in item.attributes}

    spans = []
    for path in sorted(glob.glob(str(folder / "otlp" / "*.traces"))):
        request = ExportTraceServiceRequest.FromString(Path(path).read_bytes())
        spans += [span for r in request.resource_spans for s in r.scope_spans for span in s.spans]
    ids = {span.span_id for span in spans}
    assert len(ids) == len(spans), "two spans have one id"
    assert all(span.parent_span_id in ids for span in spans if span.parent_span_id), "a parent is missing"
    assert all(span.end_time_unix_nano >= span.start_time_unix_nano for span in spans)
    count = 0
    for path in sorted(glob.glob(str(folder / "otlp" / "*.metrics"))):
        request = ExportMetricsServiceRequest.FromString(Path(path).read_bytes())
        resource = attributes(request.resource_metrics[0].resource)
        for metric in request.resource_metrics[0].scope_metrics[0].metrics:
            (point,) = metric.gauge.data_points
            if metric.name == "turnwise.reward.mean":
                step = attributes(point)["turnwise.step"]
                check("OTLP", f"reward of step {step}", point.as_double, steps[step]["reward/mean"])
            count += 1
    operations = {}
    for span in spans:
        name = attributes(span)["gen_ai.operation.name"]
        operations[name] = operations.get(name, 0) + 1
    print(f"OpenTelemetry    {len(spans)} spans {operations}; {count} gauges; resource {resource}")


def table():
    count = 0
    with open(folder / "metrics.csv", newline="") as file:
        for row in csv.DictReader(file):
            if row["event"] == "step":
                for name, value in steps[int(row["step"])].items():
                    check("CSV", name, float(row[name]), value)
                    count += 1
            else:
                check("CSV", row["event"], float(row["eval/sampled/success"]), evaluations[int(row["step"])])
    print(f"CSV              {count} values agree")


for reader in (tensorboard, weights_and_biases, opentelemetry, table):
    reader()

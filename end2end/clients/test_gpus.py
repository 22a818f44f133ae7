"""Hypothetical GPUs, from the API to results: one value swept over a range as one run."""

from test_main_job import put_with_boto3


def test_a_sweep_of_dram_bandwidth_is_one_run_and_more_is_never_slower(app, synthetic):
    put_with_boto3(app, synthetic, "accelsim-traces/swept")
    app.wait_ready("swept")
    body = {"base": "SM90_H100", "sweep": {"key": "chip.dram_bandwidth", "values": [838, 1676, 3352, 6704]}}
    answer = app.request("POST", "/api/gpu-configs", json=body)
    assert answer.status_code == 201, answer.text
    gpus = [gpu["name"] for gpu in answer.json()]
    detail = app.wait_run(app.create_run("swept", [(gpu, 1) for gpu in [*gpus, "SM90_H100"]]))
    assert detail["state"] == "succeeded", [sim["error"] for sim in detail["sims"]]
    cycles = {}
    for sim in detail["sims"]:
        results = app.get(f"/api/sims/{sim['id']}/results")
        cycles[sim["gpu_config"]] = sum(kernel["gpu_sim_cycle"] for kernel in results["kernels"])
    swept = [cycles[gpu] for gpu in gpus]
    assert swept == sorted(swept, reverse=True) and swept[0] > swept[-1], cycles
    # The value that the base has gives what the base gives.
    assert cycles["SM90_H100_dram_bandwidth_3352"] == cycles["SM90_H100"]

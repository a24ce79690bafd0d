"""The input of a simulation with controllers (`bench.py --only crons`): nodes, and CronJobs that each make a Job with
one pod every hour."""
import json

NODES, CRONS = 1000, 1000


def node(i):
    has = {"cpu": "16", "memory": "64Gi", "pods": "110"}
    labels = {"kubernetes.io/hostname": "n%d" % i, "topology.kubernetes.io/zone": "z%d" % (i % 3)}
    ready = [{"type": "Ready", "status": "True"}]
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n%d" % i, "labels": labels},
        "status": {"capacity": has, "allocatable": has, "conditions": ready},
    }


def cron_job(i):
    """Its pods run for 5 to 44 minutes."""
    container = {"name": "c", "image": "x", "resources": {"requests": {"cpu": "500m", "memory": "1Gi"}}}
    template = {
        "metadata": {"annotations": {"schedsim/duration": "%dm" % (5 + i % 40)}},
        "spec": {"restartPolicy": "Never", "containers": [container]},
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "c%d" % i, "namespace": "default"},
        "spec": {"schedule": "%d * * * *" % (i % 60), "jobTemplate": {"spec": {"template": template}}},
    }


def write(path):
    with open(path, "w") as out:
        for each, count in (node, NODES), (cron_job, CRONS):
            for i in range(count):
                out.write(json.dumps(each(i)) + "\n")

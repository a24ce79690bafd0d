#!/usr/bin/env python3
"""Questions to a cluster before anything is done: each is asked of a copy, and the cluster stays as it is."""
import openb


def main():
    args = openb.arguments(__doc__)
    document = openb.scenario(args)
    c = openb.cluster(document)
    placed = c.schedule()
    print("now: %d pods placed, %d pending" % (len(placed.pods) - len(placed.pending), len(placed.pending)))

    # What if the node with the most pods is drained: where do its pods go?
    busiest = max(set(placed.placements.values()) - {None}, key=list(placed.placements.values()).count)
    leaving = [pod for pod, node in placed.placements.items() if node == busiest]
    copy = c.copy()
    for pod in leaving:
        copy.delete_pod(pod)
    copy.remove_node(busiest)
    objects = {"%(namespace)s/%(name)s" % p["metadata"]: p for p in document["pods"]}
    moved = copy.schedule([objects[pod] for pod in leaving])
    print(
        "without %s: %d of its %d pods find another node" % (busiest, len(leaving) - len(moved.pending), len(leaving))
    )

    # What if there were ten more of the largest node: how many of the pending pods fit then?
    nodes = [i for i in document["cluster"]["items"] if i["kind"] == "Node"]
    largest = max(nodes, key=lambda n: int(n["status"]["allocatable"].get(openb.GPU, 0)))
    copy = c.copy()
    for i in range(10):
        name = "more-%d" % i
        copy.apply([dict(largest, metadata=dict(largest["metadata"], name=name, uid=name))])
    if placed.pending:
        more = copy.schedule([objects[pod] for pod in placed.pending])
        print(
            "with 10 more like %s: %d of %d pending pods fit"
            % (largest["metadata"]["name"], len(placed.pending) - len(more.pending), len(more.pods))
        )
    print("the cluster itself still has %d nodes" % sum(1 for n in c.nodes if n))


if __name__ == "__main__":
    main()

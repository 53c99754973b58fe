"""Two Ray nodes on loopback, in a process that is told what to kill; runs where Ray is installed.

Each line on stdin is a command, and each is answered by one line on stdout.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

from ray.cluster_utils import Cluster

NODE = {"num_cpus": 2, "node_ip_address": "127.0.0.1", "object_store_memory": 128 << 20}


def pids(nodes: list[Any], name: str) -> list[int]:
    """The actors of a class on some nodes."""
    raylets = {one.process.pid for node in nodes for one in node.all_processes["raylet"]}
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            is_actor = (folder / "cmdline").read_text().startswith(f"ray::{name}")
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if is_actor and parent in raylets:
            found.append(int(folder.name))
    return sorted(found)


def reply(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def main() -> None:
    head = {**NODE, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    others = [cluster.add_node(**NODE)]
    reply(cluster.address)
    for line in sys.stdin:
        command, _, name = line.strip().partition(" ")
        nodes = [cluster.head_node, *others]
        if command == "count":
            reply(*(len(pids([node], name)) for node in nodes))
        elif command == "kill":
            killed = pids(nodes, name)[:1]
            for pid in killed:
                os.kill(pid, signal.SIGKILL)
            reply(len(killed))
        elif command == "kill-node":
            cluster.remove_node(others.pop(), allow_graceful=False)
            reply(1)
        elif command == "add-node":
            others.append(cluster.add_node(**NODE))
            reply(1)
    cluster.shutdown()


main()

"""The files for a cluster of three nodes say what the operations page says; no engine of containers is needed to see it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

DEPLOY = Path(__file__).resolve().parents[4] / "deploy"


def manifests() -> dict[str, Any]:
    return {
        f"{each['kind']} {each['metadata']['name']}": each
        for each in yaml.safe_load_all((DEPLOY / "qdrant-kubernetes.yaml").read_text())
    }


def test_the_compose_file_has_three_nodes_with_their_own_disks_of_one_cluster() -> None:
    content = yaml.safe_load((DEPLOY / "qdrant-compose.yaml").read_text())
    nodes = content["services"]
    assert len(nodes) == 3
    disks = [volume.partition(":")[0] for node in nodes.values() for volume in node["volumes"]]
    assert sorted(disks) == sorted(set(disks)) == sorted(content["volumes"])
    for name, node in nodes.items():
        command = node["command"][-1]
        assert f"--uri http://{name}:6335" in command
        assert ("--bootstrap http://qdrant-1:6335" in command) == (name != "qdrant-1")
        assert node["environment"]["QDRANT__CLUSTER__ENABLED"] == "true"
        assert node["environment"]["QDRANT__SERVICE__API_KEY"].startswith("${MATHAMR_QDRANT_API_KEY:?")
    published = [port for node in nodes.values() for port in node.get("ports", [])]
    assert published == ["127.0.0.1:6333:6333"]


def test_the_manifest_has_three_nodes_apart_and_keeps_their_port_to_themselves() -> None:
    found = manifests()
    nodes = found["StatefulSet qdrant"]["spec"]
    pod = nodes["template"]["spec"]
    assert nodes["replicas"] == 3
    assert nodes["serviceName"] == "qdrant-nodes"
    rule = pod["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][0]
    assert rule["topologyKey"] == "kubernetes.io/hostname"
    assert pod["securityContext"]["runAsNonRoot"] is True
    (container,) = pod["containers"]
    key = next(each for each in container["env"] if each["name"] == "QDRANT__SERVICE__API_KEY")
    assert "value" not in key
    assert found["PodDisruptionBudget qdrant"]["spec"]["maxUnavailable"] == 1
    assert found["Service qdrant-nodes"]["spec"]["clusterIP"] == "None"
    assert found["Service qdrant-nodes"]["spec"]["publishNotReadyAddresses"] is True
    among = [
        each for each in found["NetworkPolicy qdrant"]["spec"]["ingress"] if {"port": 6335} in each["ports"]
    ]
    assert [set(each) for each in among] == [{"from", "ports"}]


def test_both_run_one_version_of_the_server() -> None:
    compose = yaml.safe_load((DEPLOY / "qdrant-compose.yaml").read_text())
    images = {node["image"] for node in compose["services"].values()}
    container = manifests()["StatefulSet qdrant"]["spec"]["template"]["spec"]["containers"][0]
    assert images == {container["image"].removesuffix("-unprivileged")}

"""The files for a cluster of three nodes: one version, disks of their own, a key, and no port open to the world."""

from __future__ import annotations

import yaml

from tests.conftest import ROOT

DEPLOY = ROOT / "deploy"


def test_the_files_for_a_cluster_agree_and_expose_nothing() -> None:
    content = yaml.safe_load((DEPLOY / "qdrant-compose.yaml").read_text())
    nodes = content["services"]
    assert len(nodes) == 3
    disks = [volume.partition(":")[0] for node in nodes.values() for volume in node["volumes"]]
    assert sorted(disks) == sorted(set(disks)) == sorted(content["volumes"])
    for node in nodes.values():
        assert node["environment"]["QDRANT__SERVICE__API_KEY"].startswith("${MATHAMR_QDRANT_API_KEY:?")
    assert [port for node in nodes.values() for port in node.get("ports", [])] == ["127.0.0.1:6333:6333"]
    made = yaml.safe_load_all((DEPLOY / "qdrant-kubernetes.yaml").read_text())
    found = {f"{each['kind']} {each['metadata']['name']}": each["spec"] for each in made if "spec" in each}
    pod = found["StatefulSet qdrant"]["template"]["spec"]
    (container,) = pod["containers"]
    assert {node["image"] for node in nodes.values()} == {container["image"].removesuffix("-unprivileged")}
    assert found["StatefulSet qdrant"]["replicas"] == 3
    assert pod["securityContext"]["runAsNonRoot"] is True
    key = next(each for each in container["env"] if each["name"] == "QDRANT__SERVICE__API_KEY")
    assert "value" not in key
    among = [each for each in found["NetworkPolicy qdrant"]["ingress"] if {"port": 6335} in each["ports"]]
    assert [set(each) for each in among] == [{"from", "ports"}]

"""A broker that lets in only who it knows, and lets them do only what they may: TLS, SCRAM and ACLs."""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from stream.broker import QUICK_START, Broker
from stream.broker.install import Sources
from stream.broker.kafka_ping import HOST, free_port
from stream.config import Agent

USER = "worker"


class Right(NamedTuple):
    """Something that a worker must be allowed to do."""

    kind: ResourceType
    name: str
    operation: AclOperation

    @property
    def pattern(self) -> ResourcePatternType:
        """Transactional ids begin with the agent's name; topics and the group are named one by one."""
        begins = self.kind is ResourceType.TRANSACTIONAL_ID
        return ResourcePatternType.PREFIXED if begins else ResourcePatternType.LITERAL


def rights_of(agent: Agent) -> list[Right]:
    """Return the least that a worker needs; docs/security.md has the same table."""
    topics = agent.topics
    told = [Right(ResourceType.TOPIC, agent.input, AclOperation.READ)]
    told += [
        Right(ResourceType.TOPIC, name, AclOperation.WRITE)
        for name in (topics.predictions, topics.tree_changes, topics.dead_letters)
    ]
    for name in (topics.journal, topics.snapshots):
        told += [
            Right(ResourceType.TOPIC, name, AclOperation.READ),
            Right(ResourceType.TOPIC, name, AclOperation.WRITE),
        ]
    told.append(Right(ResourceType.GROUP, agent.group, AclOperation.READ))
    told.append(Right(ResourceType.TRANSACTIONAL_ID, agent.group, AclOperation.WRITE))
    return told


class Fortress:
    """The broker, how to get in, and who may do what. Those who come by loopback without TLS may do all."""

    def __init__(self, directory: Path, sources: Sources) -> None:
        self.directory = directory
        self.authority = directory / "ca.pem"
        certificate = _certificates(directory)
        # The first start chooses the ports, of which the second listener's settings are made.
        first = Broker.start(directory / "broker", sources=sources, java_options=QUICK_START)
        first.stop()
        ports, self.port = first.nodes[0].ports, free_port()
        own = f"PLAINTEXT://{HOST}:{ports.broker}"
        self._broker = Broker.start(
            directory / "broker",
            sources=sources,
            java_options=QUICK_START,
            properties={
                "listeners": f"{own},GATE://{HOST}:{self.port},CONTROLLER://{HOST}:{ports.controller}",
                "advertised.listeners": f"{own},GATE://{HOST}:{self.port}",
                "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,GATE:SASL_SSL",
                "sasl.enabled.mechanisms": "SCRAM-SHA-256",
                "listener.name.gate.scram-sha-256.sasl.jaas.config": (
                    "org.apache.kafka.common.security.scram.ScramLoginModule required;"
                ),
                "ssl.keystore.type": "PEM",
                "ssl.keystore.location": str(certificate),
                "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
                "super.users": "User:ANONYMOUS",
                # A right that was taken away must not live on in what was granted before.
                "connections.max.reauth.ms": "0",
            },
        )
        self.admin = AdminClient({"bootstrap.servers": self.inside, "log_level": 0})

    @property
    def inside(self) -> str:
        """Where everything is allowed."""
        return self._broker.bootstrap_servers

    def properties(self, password_file: Path) -> Mapping[str, str]:
        """Return the settings of a client at the gate."""
        return {
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": "SCRAM-SHA-256",
            "sasl.username": USER,
            "ssl.ca.location": str(self.authority),
        }

    def enrol(self, password: str) -> None:
        """Make the user known."""
        told = UserScramCredentialUpsertion(
            USER, ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096), password.encode()
        )
        for future in self.admin.alter_user_scram_credentials([told]).values():
            future.result(timeout=30)

    def grant(self, rights: Sequence[Right]) -> None:
        for future in self.admin.create_acls([_binding(right) for right in rights]).values():
            future.result(timeout=30)

    def close(self) -> None:
        self._broker.stop()


def _binding(right: Right) -> AclBinding:
    return AclBinding(
        right.kind,
        right.name,
        right.pattern,
        f"User:{USER}",
        "*",
        right.operation,
        AclPermissionType.ALLOW,
    )


def _certificates(directory: Path) -> Path:
    """Make an authority and the broker's certificate; return the file with the broker's key and chain."""
    directory.mkdir(parents=True, exist_ok=True)

    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=directory, check=True, capture_output=True)

    new = ("-newkey", "rsa:2048", "-nodes", "-days", "30")
    openssl("req", "-x509", *new, "-subj", "/CN=test authority", "-keyout", "ca.key", "-out", "ca.pem")
    openssl("req", "-x509", *new, "-subj", "/CN=somebody else", "-keyout", "other.key", "-out", "other.pem")
    openssl("req", *new[:3], "-subj", f"/CN={HOST}", "-keyout", "broker.key", "-out", "broker.csr")
    (directory / "names").write_text(f"subjectAltName=IP:{HOST}\n")
    signed = ("-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "30", "-extfile", "names")
    openssl("x509", "-req", "-in", "broker.csr", *signed, "-out", "broker.pem")
    whole = directory / "keystore.pem"
    parts = [(directory / name).read_text() for name in ("broker.key", "broker.pem", "ca.pem")]
    whole.write_text("".join(parts))
    return whole

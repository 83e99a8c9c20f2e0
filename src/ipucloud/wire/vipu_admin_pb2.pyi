from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Topology(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TOPOLOGY_UNDEFINED: _ClassVar[Topology]
    TOPOLOGY_MESH: _ClassVar[Topology]
    TOPOLOGY_TORUS: _ClassVar[Topology]

class GatewayTopology(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    GATEWAY_UNDEFINED: _ClassVar[GatewayTopology]
    GATEWAY_LOOPED: _ClassVar[GatewayTopology]
    GATEWAY_SWITCHED: _ClassVar[GatewayTopology]

class TestKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TEST_UNDEFINED: _ClassVar[TestKind]
    TEST_VERSION: _ClassVar[TestKind]
    TEST_CABLING: _ClassVar[TestKind]
    TEST_SYNC_LINK: _ClassVar[TestKind]
    TEST_LINK_TRAINING: _ClassVar[TestKind]
    TEST_TRAFFIC: _ClassVar[TestKind]

class TestState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TS_UNDEFINED: _ClassVar[TestState]
    TS_RUNNING: _ClassVar[TestState]
    TS_PASSED: _ClassVar[TestState]
    TS_FAILED: _ClassVar[TestState]

class LinkKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    LINK_UNDEFINED: _ClassVar[LinkKind]
    LINK_INTERNAL: _ClassVar[LinkKind]
    LINK_NEXT: _ClassVar[LinkKind]
    LINK_GATEWAY: _ClassVar[LinkKind]

class LinkState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    LS_UNDEFINED: _ClassVar[LinkState]
    LS_UP: _ClassVar[LinkState]
    LS_DEGRADED: _ClassVar[LinkState]
    LS_DOWN: _ClassVar[LinkState]
TOPOLOGY_UNDEFINED: Topology
TOPOLOGY_MESH: Topology
TOPOLOGY_TORUS: Topology
GATEWAY_UNDEFINED: GatewayTopology
GATEWAY_LOOPED: GatewayTopology
GATEWAY_SWITCHED: GatewayTopology
TEST_UNDEFINED: TestKind
TEST_VERSION: TestKind
TEST_CABLING: TestKind
TEST_SYNC_LINK: TestKind
TEST_LINK_TRAINING: TestKind
TEST_TRAFFIC: TestKind
TS_UNDEFINED: TestState
TS_RUNNING: TestState
TS_PASSED: TestState
TS_FAILED: TestState
LINK_UNDEFINED: LinkKind
LINK_INTERNAL: LinkKind
LINK_NEXT: LinkKind
LINK_GATEWAY: LinkKind
LS_UNDEFINED: LinkState
LS_UP: LinkState
LS_DEGRADED: LinkState
LS_DOWN: LinkState

class Agent(_message.Message):
    __slots__ = ("id", "cluster_id", "pod", "slot", "allocation_id", "reachable", "host", "properties")
    class PropertiesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    CLUSTER_ID_FIELD_NUMBER: _ClassVar[int]
    POD_FIELD_NUMBER: _ClassVar[int]
    SLOT_FIELD_NUMBER: _ClassVar[int]
    ALLOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    REACHABLE_FIELD_NUMBER: _ClassVar[int]
    HOST_FIELD_NUMBER: _ClassVar[int]
    PROPERTIES_FIELD_NUMBER: _ClassVar[int]
    id: str
    cluster_id: str
    pod: str
    slot: int
    allocation_id: str
    reachable: bool
    host: str
    properties: _containers.ScalarMap[str, str]
    def __init__(self, id: _Optional[str] = ..., cluster_id: _Optional[str] = ..., pod: _Optional[str] = ..., slot: _Optional[int] = ..., allocation_id: _Optional[str] = ..., reachable: _Optional[bool] = ..., host: _Optional[str] = ..., properties: _Optional[_Mapping[str, str]] = ...) -> None: ...

class ListAgentsRequest(_message.Message):
    __slots__ = ("cluster_id",)
    CLUSTER_ID_FIELD_NUMBER: _ClassVar[int]
    cluster_id: str
    def __init__(self, cluster_id: _Optional[str] = ...) -> None: ...

class ListAgentsReply(_message.Message):
    __slots__ = ("agents",)
    AGENTS_FIELD_NUMBER: _ClassVar[int]
    agents: _containers.RepeatedCompositeFieldContainer[Agent]
    def __init__(self, agents: _Optional[_Iterable[_Union[Agent, _Mapping]]] = ...) -> None: ...

class GetAgentRequest(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class GetAgentReply(_message.Message):
    __slots__ = ("agent",)
    AGENT_FIELD_NUMBER: _ClassVar[int]
    agent: Agent
    def __init__(self, agent: _Optional[_Union[Agent, _Mapping]] = ...) -> None: ...

class CreateAgentRequest(_message.Message):
    __slots__ = ("id", "host")
    ID_FIELD_NUMBER: _ClassVar[int]
    HOST_FIELD_NUMBER: _ClassVar[int]
    id: str
    host: str
    def __init__(self, id: _Optional[str] = ..., host: _Optional[str] = ...) -> None: ...

class CreateAgentReply(_message.Message):
    __slots__ = ("agent",)
    AGENT_FIELD_NUMBER: _ClassVar[int]
    agent: Agent
    def __init__(self, agent: _Optional[_Union[Agent, _Mapping]] = ...) -> None: ...

class RemoveAgentRequest(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class RemoveAgentReply(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class DiscoverAgentsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class DiscoverAgentsReply(_message.Message):
    __slots__ = ("agents",)
    AGENTS_FIELD_NUMBER: _ClassVar[int]
    agents: _containers.RepeatedCompositeFieldContainer[Agent]
    def __init__(self, agents: _Optional[_Iterable[_Union[Agent, _Mapping]]] = ...) -> None: ...

class Cluster(_message.Message):
    __slots__ = ("id", "agent_ids", "topology", "num_ipulink_domains", "gateway_topology")
    ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_IDS_FIELD_NUMBER: _ClassVar[int]
    TOPOLOGY_FIELD_NUMBER: _ClassVar[int]
    NUM_IPULINK_DOMAINS_FIELD_NUMBER: _ClassVar[int]
    GATEWAY_TOPOLOGY_FIELD_NUMBER: _ClassVar[int]
    id: str
    agent_ids: _containers.RepeatedScalarFieldContainer[str]
    topology: Topology
    num_ipulink_domains: int
    gateway_topology: GatewayTopology
    def __init__(self, id: _Optional[str] = ..., agent_ids: _Optional[_Iterable[str]] = ..., topology: _Optional[_Union[Topology, str]] = ..., num_ipulink_domains: _Optional[int] = ..., gateway_topology: _Optional[_Union[GatewayTopology, str]] = ...) -> None: ...

class CreateClusterRequest(_message.Message):
    __slots__ = ("cluster",)
    CLUSTER_FIELD_NUMBER: _ClassVar[int]
    cluster: Cluster
    def __init__(self, cluster: _Optional[_Union[Cluster, _Mapping]] = ...) -> None: ...

class CreateClusterReply(_message.Message):
    __slots__ = ("cluster",)
    CLUSTER_FIELD_NUMBER: _ClassVar[int]
    cluster: Cluster
    def __init__(self, cluster: _Optional[_Union[Cluster, _Mapping]] = ...) -> None: ...

class GetClusterRequest(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class GetClusterReply(_message.Message):
    __slots__ = ("cluster",)
    CLUSTER_FIELD_NUMBER: _ClassVar[int]
    cluster: Cluster
    def __init__(self, cluster: _Optional[_Union[Cluster, _Mapping]] = ...) -> None: ...

class ListClustersRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListClustersReply(_message.Message):
    __slots__ = ("clusters",)
    CLUSTERS_FIELD_NUMBER: _ClassVar[int]
    clusters: _containers.RepeatedCompositeFieldContainer[Cluster]
    def __init__(self, clusters: _Optional[_Iterable[_Union[Cluster, _Mapping]]] = ...) -> None: ...

class RemoveClusterRequest(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class RemoveClusterReply(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Allocation(_message.Message):
    __slots__ = ("id", "cluster_id", "agent_ids", "endpoint_host", "endpoint_port")
    ID_FIELD_NUMBER: _ClassVar[int]
    CLUSTER_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_IDS_FIELD_NUMBER: _ClassVar[int]
    ENDPOINT_HOST_FIELD_NUMBER: _ClassVar[int]
    ENDPOINT_PORT_FIELD_NUMBER: _ClassVar[int]
    id: str
    cluster_id: str
    agent_ids: _containers.RepeatedScalarFieldContainer[str]
    endpoint_host: str
    endpoint_port: int
    def __init__(self, id: _Optional[str] = ..., cluster_id: _Optional[str] = ..., agent_ids: _Optional[_Iterable[str]] = ..., endpoint_host: _Optional[str] = ..., endpoint_port: _Optional[int] = ...) -> None: ...

class CreateAllocationRequest(_message.Message):
    __slots__ = ("id", "cluster_id", "agent_ids", "size")
    ID_FIELD_NUMBER: _ClassVar[int]
    CLUSTER_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_IDS_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    id: str
    cluster_id: str
    agent_ids: _containers.RepeatedScalarFieldContainer[str]
    size: int
    def __init__(self, id: _Optional[str] = ..., cluster_id: _Optional[str] = ..., agent_ids: _Optional[_Iterable[str]] = ..., size: _Optional[int] = ...) -> None: ...

class CreateAllocationReply(_message.Message):
    __slots__ = ("allocation",)
    ALLOCATION_FIELD_NUMBER: _ClassVar[int]
    allocation: Allocation
    def __init__(self, allocation: _Optional[_Union[Allocation, _Mapping]] = ...) -> None: ...

class GetAllocationRequest(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class GetAllocationReply(_message.Message):
    __slots__ = ("allocation",)
    ALLOCATION_FIELD_NUMBER: _ClassVar[int]
    allocation: Allocation
    def __init__(self, allocation: _Optional[_Union[Allocation, _Mapping]] = ...) -> None: ...

class ListAllocationsRequest(_message.Message):
    __slots__ = ("cluster_id",)
    CLUSTER_ID_FIELD_NUMBER: _ClassVar[int]
    cluster_id: str
    def __init__(self, cluster_id: _Optional[str] = ...) -> None: ...

class ListAllocationsReply(_message.Message):
    __slots__ = ("allocations",)
    ALLOCATIONS_FIELD_NUMBER: _ClassVar[int]
    allocations: _containers.RepeatedCompositeFieldContainer[Allocation]
    def __init__(self, allocations: _Optional[_Iterable[_Union[Allocation, _Mapping]]] = ...) -> None: ...

class RemoveAllocationRequest(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class RemoveAllocationReply(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class RemovePartitionsRequest(_message.Message):
    __slots__ = ("allocation_id",)
    ALLOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    allocation_id: str
    def __init__(self, allocation_id: _Optional[str] = ...) -> None: ...

class RemovePartitionsReply(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class User(_message.Message):
    __slots__ = ("id", "allocation_ids", "all_allocations", "access_key_ids")
    ID_FIELD_NUMBER: _ClassVar[int]
    ALLOCATION_IDS_FIELD_NUMBER: _ClassVar[int]
    ALL_ALLOCATIONS_FIELD_NUMBER: _ClassVar[int]
    ACCESS_KEY_IDS_FIELD_NUMBER: _ClassVar[int]
    id: str
    allocation_ids: _containers.RepeatedScalarFieldContainer[str]
    all_allocations: bool
    access_key_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, id: _Optional[str] = ..., allocation_ids: _Optional[_Iterable[str]] = ..., all_allocations: _Optional[bool] = ..., access_key_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class CreateUserRequest(_message.Message):
    __slots__ = ("id", "allocation_ids", "all_allocations")
    ID_FIELD_NUMBER: _ClassVar[int]
    ALLOCATION_IDS_FIELD_NUMBER: _ClassVar[int]
    ALL_ALLOCATIONS_FIELD_NUMBER: _ClassVar[int]
    id: str
    allocation_ids: _containers.RepeatedScalarFieldContainer[str]
    all_allocations: bool
    def __init__(self, id: _Optional[str] = ..., allocation_ids: _Optional[_Iterable[str]] = ..., all_allocations: _Optional[bool] = ...) -> None: ...

class CreateUserReply(_message.Message):
    __slots__ = ("user",)
    USER_FIELD_NUMBER: _ClassVar[int]
    user: User
    def __init__(self, user: _Optional[_Union[User, _Mapping]] = ...) -> None: ...

class GetUserRequest(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class GetUserReply(_message.Message):
    __slots__ = ("user",)
    USER_FIELD_NUMBER: _ClassVar[int]
    user: User
    def __init__(self, user: _Optional[_Union[User, _Mapping]] = ...) -> None: ...

class ListUsersRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListUsersReply(_message.Message):
    __slots__ = ("users",)
    USERS_FIELD_NUMBER: _ClassVar[int]
    users: _containers.RepeatedCompositeFieldContainer[User]
    def __init__(self, users: _Optional[_Iterable[_Union[User, _Mapping]]] = ...) -> None: ...

class SetUserAllocationsRequest(_message.Message):
    __slots__ = ("id", "allocation_ids", "all_allocations")
    ID_FIELD_NUMBER: _ClassVar[int]
    ALLOCATION_IDS_FIELD_NUMBER: _ClassVar[int]
    ALL_ALLOCATIONS_FIELD_NUMBER: _ClassVar[int]
    id: str
    allocation_ids: _containers.RepeatedScalarFieldContainer[str]
    all_allocations: bool
    def __init__(self, id: _Optional[str] = ..., allocation_ids: _Optional[_Iterable[str]] = ..., all_allocations: _Optional[bool] = ...) -> None: ...

class SetUserAllocationsReply(_message.Message):
    __slots__ = ("user",)
    USER_FIELD_NUMBER: _ClassVar[int]
    user: User
    def __init__(self, user: _Optional[_Union[User, _Mapping]] = ...) -> None: ...

class RemoveUserRequest(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class RemoveUserReply(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class CreateAccessKeyRequest(_message.Message):
    __slots__ = ("user_id", "id", "sha256")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    id: str
    sha256: str
    def __init__(self, user_id: _Optional[str] = ..., id: _Optional[str] = ..., sha256: _Optional[str] = ...) -> None: ...

class CreateAccessKeyReply(_message.Message):
    __slots__ = ("secret",)
    SECRET_FIELD_NUMBER: _ClassVar[int]
    secret: str
    def __init__(self, secret: _Optional[str] = ...) -> None: ...

class RemoveAccessKeyRequest(_message.Message):
    __slots__ = ("user_id", "id")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    id: str
    def __init__(self, user_id: _Optional[str] = ..., id: _Optional[str] = ...) -> None: ...

class RemoveAccessKeyReply(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class LinkResult(_message.Message):
    __slots__ = ("from_agent", "to_agent", "passed", "detail", "link")
    FROM_AGENT_FIELD_NUMBER: _ClassVar[int]
    TO_AGENT_FIELD_NUMBER: _ClassVar[int]
    PASSED_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    LINK_FIELD_NUMBER: _ClassVar[int]
    from_agent: str
    to_agent: str
    passed: bool
    detail: str
    link: str
    def __init__(self, from_agent: _Optional[str] = ..., to_agent: _Optional[str] = ..., passed: _Optional[bool] = ..., detail: _Optional[str] = ..., link: _Optional[str] = ...) -> None: ...

class TestResult(_message.Message):
    __slots__ = ("kind", "state", "detail", "links")
    KIND_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    LINKS_FIELD_NUMBER: _ClassVar[int]
    kind: TestKind
    state: TestState
    detail: str
    links: _containers.RepeatedCompositeFieldContainer[LinkResult]
    def __init__(self, kind: _Optional[_Union[TestKind, str]] = ..., state: _Optional[_Union[TestState, str]] = ..., detail: _Optional[str] = ..., links: _Optional[_Iterable[_Union[LinkResult, _Mapping]]] = ...) -> None: ...

class ClusterTest(_message.Message):
    __slots__ = ("id", "allocation_id", "state", "results")
    ID_FIELD_NUMBER: _ClassVar[int]
    ALLOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    id: str
    allocation_id: str
    state: TestState
    results: _containers.RepeatedCompositeFieldContainer[TestResult]
    def __init__(self, id: _Optional[str] = ..., allocation_id: _Optional[str] = ..., state: _Optional[_Union[TestState, str]] = ..., results: _Optional[_Iterable[_Union[TestResult, _Mapping]]] = ...) -> None: ...

class TestClusterRequest(_message.Message):
    __slots__ = ("id", "allocation_id", "kinds")
    ID_FIELD_NUMBER: _ClassVar[int]
    ALLOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    KINDS_FIELD_NUMBER: _ClassVar[int]
    id: str
    allocation_id: str
    kinds: _containers.RepeatedScalarFieldContainer[TestKind]
    def __init__(self, id: _Optional[str] = ..., allocation_id: _Optional[str] = ..., kinds: _Optional[_Iterable[_Union[TestKind, str]]] = ...) -> None: ...

class TestClusterReply(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class GetClusterTestRequest(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class GetClusterTestReply(_message.Message):
    __slots__ = ("test",)
    TEST_FIELD_NUMBER: _ClassVar[int]
    test: ClusterTest
    def __init__(self, test: _Optional[_Union[ClusterTest, _Mapping]] = ...) -> None: ...

class Link(_message.Message):
    __slots__ = ("from_agent", "to_agent", "kind", "state")
    FROM_AGENT_FIELD_NUMBER: _ClassVar[int]
    TO_AGENT_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    from_agent: str
    to_agent: str
    kind: LinkKind
    state: LinkState
    def __init__(self, from_agent: _Optional[str] = ..., to_agent: _Optional[str] = ..., kind: _Optional[_Union[LinkKind, str]] = ..., state: _Optional[_Union[LinkState, str]] = ...) -> None: ...

class ListLinksRequest(_message.Message):
    __slots__ = ("allocation_id",)
    ALLOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    allocation_id: str
    def __init__(self, allocation_id: _Optional[str] = ...) -> None: ...

class ListLinksReply(_message.Message):
    __slots__ = ("links",)
    LINKS_FIELD_NUMBER: _ClassVar[int]
    links: _containers.RepeatedCompositeFieldContainer[Link]
    def __init__(self, links: _Optional[_Iterable[_Union[Link, _Mapping]]] = ...) -> None: ...

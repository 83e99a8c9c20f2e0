import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, body, type Schemas } from "./client";

export type HardwareMachine = Schemas["HardwareMachine"];
export type HardwareHost = Schemas["HardwareHost"];

/** Not every change has an event, such as a machine that becomes free: what operators look at is also read again this often. */
const WATCHED_MS = 10_000;
const MACHINES_PER_PAGE = 500;

const watched = { refetchInterval: WATCHED_MS };

export const operatorCapacity = (region: string) =>
  queryOptions({
    queryKey: ["operator", "capacity", region],
    queryFn: ({ signal }) => body(api.GET("/v1/operator/regions/{region}/capacity", { signal, params: { path: { region } } })),
    enabled: region !== "",
    ...watched,
  });

/** All machines of a region, page by page: a heat map needs each of them. */
export const regionMachines = (region: string) =>
  queryOptions({
    queryKey: ["operator", "machines", region],
    queryFn: async ({ signal }) => {
      const found: HardwareMachine[] = [];
      for (let cursor: string | undefined; ;) {
        const query = { region, limit: MACHINES_PER_PAGE, cursor };
        const page = await body(api.GET("/v1/operator/machines", { signal, params: { query } }));
        found.push(...page.items);
        if (!page.next_cursor) return found;
        cursor = page.next_cursor;
      }
    },
    enabled: region !== "",
    ...watched,
  });

/** All hosts of a region, page by page. */
export const regionHosts = (region: string) =>
  queryOptions({
    queryKey: ["operator", "hosts", region],
    queryFn: async ({ signal }) => {
      const found: HardwareHost[] = [];
      for (let cursor: string | undefined; ;) {
        const page = await body(api.GET("/v1/operator/hosts", { signal, params: { query: { region, limit: MACHINES_PER_PAGE, cursor } } }));
        found.push(...page.items);
        if (!page.next_cursor) return found;
        cursor = page.next_cursor;
      }
    },
    enabled: region !== "",
  });

const CARRIED_OUT_MS = 2_000;

/** What a simulated site was asked to break; read every other second while a worker carries it out. */
export const simulatedFaults = (query: { region: string; ended?: boolean; cursor?: string; limit: number }) =>
  queryOptions({
    queryKey: ["operator", "simulated faults", query],
    queryFn: ({ signal }) => body(api.GET("/v1/operator/simulated-faults", { signal, params: { query } })),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.items.some((each) => ["requested", "ending"].includes(each.state)) ? CARRIED_OUT_MS : WATCHED_MS),
  });

export const breakSimulated = (wanted: Schemas["SimulatedFaultCreate"]) => body(api.POST("/v1/operator/simulated-faults", { body: wanted }));

export const endSimulated = (fault: string) =>
  body(api.POST("/v1/operator/simulated-faults/{simulated_fault}:end", { params: { path: { simulated_fault: fault } } }));

export const podPage = (query: { region: string; cursor?: string; limit: number }) =>
  queryOptions({
    queryKey: ["operator", "pods", query],
    queryFn: ({ signal }) => body(api.GET("/v1/operator/pods", { signal, params: { query } })),
    enabled: query.region !== "",
    placeholderData: keepPreviousData,
    ...watched,
  });

export const KINDS = ["machines", "hosts"] as const;
/** What operators give orders for: IPU machines, and the hosts on which Poplar servers run. */
export type HardwareKind = (typeof KINDS)[number];
export type Hardware = HardwareMachine | HardwareHost;
export type HardwareFilter = {
  region?: string; health?: Hardware["health"]; state?: Hardware["state"]; code?: string; serial?: string; rack?: string; pod?: string;
};

/** A page of machines or hosts. Racks and PODs are asked for of machines only. */
export const hardwarePage = (kind: HardwareKind, query: HardwareFilter & { cursor?: string; limit: number }) =>
  queryOptions({
    queryKey: ["operator", "hardware", kind, query],
    queryFn: ({ signal }): Promise<{ items: Hardware[]; next_cursor: string | null }> => kind === "machines"
      ? body(api.GET("/v1/operator/machines", { signal, params: { query } }))
      : body(api.GET("/v1/operator/hosts", { signal, params: { query } })),
    placeholderData: keepPreviousData,
    ...watched,
  });

export type HardwareDetail = Schemas["HardwareMachineDetail"] | Schemas["HardwareHostDetail"];

export const hardwareDetail = (kind: HardwareKind, name: string) =>
  queryOptions({
    queryKey: ["operator", "hardware", kind, name],
    queryFn: ({ signal }): Promise<HardwareDetail> => kind === "machines"
      ? body(api.GET("/v1/operator/machines/{machine}", { signal, params: { path: { machine: name } } }))
      : body(api.GET("/v1/operator/hosts/{host}", { signal, params: { path: { host: name } } })),
    ...watched,
  });

export const hardwareHistory = (kind: HardwareKind, name: string, query: { cursor?: string; limit: number }) =>
  queryOptions({
    queryKey: ["operator", "hardware history", kind, name, query],
    queryFn: ({ signal }) => kind === "machines"
      ? body(api.GET("/v1/operator/machines/{machine}/history", { signal, params: { path: { machine: name }, query } }))
      : body(api.GET("/v1/operator/hosts/{host}/history", { signal, params: { path: { host: name }, query } })),
    placeholderData: keepPreviousData,
    ...watched,
  });

const ORDERS = ["drain", "maintenance", "quarantine", "return", "validate"] as const;
export type HardwareAction = (typeof ORDERS)[number];
/** What can be ordered: only machines are validated. */
export const ORDERS_OF: Record<HardwareKind, readonly HardwareAction[]> = { machines: ORDERS, hosts: ORDERS.filter((each) => each !== "validate") };

/** What an operator orders for machines or hosts; `reason` is for other operators. */
export function order(action: HardwareAction, kind: HardwareKind, names: string[], reason: string) {
  const which = { [kind]: names };
  if (action === "return") return body(api.POST("/v1/operator/hardware:return-to-service", { body: which }));
  if (action === "validate") return body(api.POST("/v1/operator/hardware:validate", { body: which }));
  if (action === "maintenance") return body(api.POST("/v1/operator/hardware:maintenance", { body: { ...which, reason, urgent: false } }));
  if (action === "drain") return body(api.POST("/v1/operator/hardware:drain", { body: { ...which, reason } }));
  return body(api.POST("/v1/operator/hardware:quarantine", { body: { ...which, reason } }));
}

export const openQuotaRequests = (query: { cursor?: string; limit: number }) =>
  queryOptions({
    queryKey: ["operator", "quota requests", query],
    queryFn: ({ signal }) => body(api.GET("/v1/operator/quota-requests", { signal, params: { query: { ...query, state: "open" } } })),
    placeholderData: keepPreviousData,
    ...watched,
  });

export type FaultReportFilter = { state?: Schemas["FaultReportState"]; region?: string };

/** Faults that customers reported, oldest first. */
export const allFaultReports = (query: FaultReportFilter & { cursor?: string; limit: number }) =>
  queryOptions({
    queryKey: ["operator", "fault reports", query],
    queryFn: ({ signal }) => body(api.GET("/v1/operator/fault-reports", { signal, params: { query } })),
    placeholderData: keepPreviousData,
    ...watched,
  });

export function answerFaultReport(decision: "confirm" | "dismiss", id: string, answer: string, code: Schemas["FaultReportConfirm"]["code"]) {
  const params = { path: { fault_report: id } };
  if (decision === "confirm") return body(api.POST("/v1/operator/fault-reports/{fault_report}:confirm", { params, body: { answer, code } }));
  return body(api.POST("/v1/operator/fault-reports/{fault_report}:dismiss", { params, body: { reason: answer } }));
}

export type OperatorEvent = Schemas["OperatorEvent"];
export type OperatorEventFilter = { type?: OperatorEvent["type"][]; region?: string; project?: string };

/** What happened to the platform, and to clusters by its operators and workers. */
export const operatorEvents = (query: OperatorEventFilter & { order: Schemas["Order"]; cursor?: string; limit: number }) =>
  queryOptions({
    queryKey: ["operator", "events", query],
    queryFn: ({ signal }) => {
      const type = query.type as never; // the API lists each type that may be asked for; OperatorEvent has it as text
      return body(api.GET("/v1/operator/events", { signal, params: { query: { ...query, type } } }));
    },
    placeholderData: keepPreviousData,
    ...watched,
  });

export const stuckPage = (query: { region?: string; cursor?: string; limit: number }) =>
  queryOptions({
    queryKey: ["operator", "stuck", query],
    queryFn: ({ signal }) => body(api.GET("/v1/operator/stuck", { signal, params: { query } })),
    placeholderData: keepPreviousData,
    ...watched,
  });

/** Where the hardware that sites show differs from what is expected. */
export const inventoryFindings = (query: { cursor?: string; limit: number }) =>
  queryOptions({
    queryKey: ["operator", "inventory findings", query],
    queryFn: ({ signal }) => body(api.GET("/v1/operator/inventory-findings", { signal, params: { query } })),
    placeholderData: keepPreviousData,
    ...watched,
  });

/** Where sites and records disagree, as the last sweeps found it. */
export const siteFindings = (query: { cursor?: string; limit: number }) =>
  queryOptions({
    queryKey: ["operator", "site findings", query],
    queryFn: ({ signal }) => body(api.GET("/v1/operator/site-findings", { signal, params: { query } })),
    placeholderData: keepPreviousData,
    ...watched,
  });

/** Let a parked work item go on; `id` is its `kind/key`. */
export function requeue(id: string) {
  const [kind = "", ...key] = id.split("/");
  return body(api.POST("/v1/operator/work/{kind}/{item}:requeue", { params: { path: { kind, item: key.join("/") } } }));
}

/** What an id is, and of which project. */
export const whatIs = (name: string) =>
  queryOptions({
    queryKey: ["what is", name],
    queryFn: ({ signal }) => body(api.GET("/v1/operator/what-is/{name}", { signal, params: { path: { name } } })),
  });

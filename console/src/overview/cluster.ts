// What the API tells of a cluster, its nodes and its history.
import { json } from "../api";
import { figure } from "../format";
import type { Admin } from "../schemas";

export type Series =
  | "commands"
  | "p50Ms"
  | "p99Ms"
  | "requests"
  | "delivered"
  | "failed"
  | "messages"
  | "deadLetters"
  | "runs"
  | "overdueSeconds"
  | "memoryBytes"
  | "residentBytes"
  | "diskFreeBytes";
/** History is that of the cluster: of nodes, but not of those in missing. */
export type History = { time: number[]; nodes: string[]; missing: { node: string; why: string }[] } & Record<
  Series,
  number[]
>;
export type Node = NonNullable<Admin["Cluster"]["nodes"]>[number];
export type ClusterStatus = Omit<Admin["Cluster"], "nodes"> & { nodes: Node[] };
/** readCluster asks for the cluster as this node sees it: it may know of no node yet. */
export async function readCluster(poll: boolean): Promise<ClusterStatus> {
  const c = await json<Admin["Cluster"]>("/admin/cluster", { poll });
  return { ...c, nodes: c.nodes ?? [] };
}
export type Doctor = Admin["DoctorReport"];
export type Finding = NonNullable<Doctor["findings"]>[number];

export const last = (list: number[]) => list[list.length - 1] ?? 0;
export const latest = (h: History, name: Series) => figure("/admin/history", name, last(h[name]));
export const shown = (name: Series) => (n: number) => figure("/admin/history", name, n);

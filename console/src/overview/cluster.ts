// What the API tells of a cluster, its nodes and its history.
import { figure } from "../format";

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
export type Node = {
  id: string;
  http: string;
  cluster: string;
  suffrage: string;
  state: string;
  appliedIndex: number;
  lastContactMs: number;
  version: string;
  leaving?: boolean;
};
export type ClusterStatus = { leader: string; term: number; nodes: Node[] };
export type Doctor = { findings?: Finding[] };
export type Finding = { check: string; about?: string; level: string; found: string; do?: string };

export const last = (list: number[]) => list[list.length - 1] ?? 0;
export const latest = (h: History, name: Series) => figure("/admin/history", name, last(h[name]));
export const shown = (name: Series) => (n: number) => figure("/admin/history", name, n);

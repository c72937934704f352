// The views: where each is, who may open it, and the file that it is loaded from.
import type { ComponentType } from "preact";
import type { Who } from "./api";

export type View = {
  path: string;
  name: string;
  icon: string;
  may: (w: Who) => boolean;
  load: () => Promise<ComponentType>;
};

const anyone = () => true,
  keyspace = (w: Who) => w.keyspace,
  messages = (w: Who) => w.messages !== "",
  admin = (w: Who) => w.admin,
  apps = (w: Who) => w.admin || w.keyspace || w.messages !== "",
  people = (w: Who) => w.admin || w.keyspace;

const view = (path: string, name: string, icon: string, may: View["may"], load: View["load"]): View => ({
  path,
  name,
  icon,
  may,
  load,
});

/** groups of views, in the order of the menu. */
export const groups: [string, View[]][] = [
  [
    "",
    [
      view("/", "Overview", "overview", anyone, async () => (await import("./overview/overview")).Overview),
      view("/connect", "Connect", "connect", apps, async () => (await import("./connect/connect")).Connect),
    ],
  ],
  [
    "Keyspace",
    [
      view("/data", "Data", "data", keyspace, async () => (await import("./data/data")).Data),
      view("/indexes", "Indexes", "find", keyspace, async () => (await import("./indexes/indexes")).Indexes),
      view("/triggers", "Triggers", "triggers", keyspace, async () => (await import("./triggers/triggers")).Triggers),
      view(
        "/analysis",
        "Memory and load",
        "chart",
        keyspace,
        async () => (await import("./analysis/analysis")).Analysis,
      ),
      view("/scripts", "Scripts", "code", keyspace, async () => (await import("./scripts/scripts")).Scripts),
      view("/cli", "Command line", "cli", keyspace, async () => (await import("./cli/cli")).CommandLine),
      view("/live", "Live", "live", keyspace, async () => (await import("./live/live")).Live),
    ],
  ],
  [
    "Messages",
    [
      view("/messages", "Messages", "messages", messages, async () => (await import("./messages/messages")).Messages),
      view("/dead", "Dead letters", "dead", messages, async () => (await import("./dead/dead")).DeadLetters),
      view("/queues", "Queues", "queues", messages, async () => (await import("./queues/queues")).Queues),
      view("/flow", "Flow control", "flow", messages, async () => (await import("./flow/flow")).FlowControl),
      view(
        "/schedules",
        "Schedules",
        "schedules",
        messages,
        async () => (await import("./schedules/schedules")).Schedules,
      ),
      view("/groups", "URL groups", "groups", messages, async () => (await import("./groups/groups")).Groups),
      view("/keys", "Signing keys", "keys", messages, async () => (await import("./signing/keys")).SigningKeys),
    ],
  ],
  ["Workflows", [view("/runs", "Runs", "runs", messages, async () => (await import("./runs/runs")).Runs)]],
  [
    "Operations",
    [
      view("/cluster", "Cluster", "cluster", admin, async () => (await import("./cluster/cluster")).Cluster),
      view("/access", "Access", "access", people, async () => (await import("./access/access")).Access),
      view("/audit", "Audit log", "audit", admin, async () => (await import("./cluster/audit")).Audit),
    ],
  ],
];
if (DEVELOPMENT) {
  groups.push([
    "Development",
    [view("/design", "Design", "edit", anyone, async () => (await import("./design/design")).Design)],
  ]);
}

/** views of all groups. */
export const views = groups.flatMap(([, list]) => list);

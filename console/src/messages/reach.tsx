// How far back a history goes, and why no further.
import { json } from "../api";
import { bytes, msSpan } from "../format";
import { useLoad } from "../ui/load";
import { Ago } from "../ui/time";

interface Reach {
  oldest: number | null;
  boundedBy: "nothing" | "time" | "bytes";
  retentionMs: number;
  bytes: number;
  maxBytes: number;
}

export function ReachOf({ kind }: { kind: "events" | "runs" }) {
  const of = useLoad<{ events: Reach; runs: Reach }>((poll) => json("/v2/history", { poll }), [], 30000);
  const r = of.data?.[kind];
  if (!r || r.oldest === null) return null;
  const what = kind === "events" ? "event" : "ended run";
  return (
    <p class="dim reach" id="reach">
      Oldest {what}: <Ago at={r.oldest} />.{" "}
      {r.boundedBy === "time" && `Older ones are forgotten after ${msSpan(r.retentionMs)}.`}
      {r.boundedBy === "bytes" && `Older ones are forgotten because history may take ${bytes(r.maxBytes)}.`}
      {r.boundedBy === "nothing" && "Nothing older was forgotten."}
    </p>
  );
}

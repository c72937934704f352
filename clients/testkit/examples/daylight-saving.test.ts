import { Client } from "@upstash/qstash";
import { expect, test } from "vitest";
import { Trireme } from "trireme-testkit";

test("a schedule at nine in Berlin over the change to daylight saving time", async () => {
  const trireme = await Trireme.start();
  try {
    const report = trireme.sink("report");
    await trireme.advanceTo(new Date("2027-03-26T12:00:00Z")); // the change is on the 28th
    await new Client(trireme.qstash).schedules.create({ destination: report.url, cron: "CRON_TZ=Europe/Berlin 0 9 * * *" });

    await trireme.advanceTo(new Date("2027-03-30T12:00:00Z"));
    const times = (await report.received()).map((r) => new Date(r.at).toISOString());
    expect(times).toEqual(["2027-03-27T08:00:00.000Z", "2027-03-28T07:00:00.000Z", "2027-03-29T07:00:00.000Z", "2027-03-30T07:00:00.000Z"]);
  } finally {
    await trireme.stop();
  }
});

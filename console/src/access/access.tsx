// Who may do what: databases, users and settings.
import { signedIn } from "../api";
import { query } from "../router";
import { Page, Tabs } from "../ui/layout";
import { Databases } from "./databases";
import { Settings } from "./settings";
import { Users } from "./users";

export function Access() {
  const admin = signedIn().admin,
    part = query.value.get("part") ?? (admin ? "databases" : "users");
  return (
    <Page title="Access" sub="Users, tokens and databases">
      <Tabs
        now={part}
        to={(n) => ({ part: n, db: query.value.get("db") ?? undefined })}
        of={[
          ...(admin ? ([["databases", "Databases and tokens"]] as [string, string][]) : []),
          ["users", "ACL users"],
          ...(admin ? ([["settings", "Limits and settings"]] as [string, string][]) : []),
        ]}
      />
      {part === "users" ? <Users /> : part === "settings" && admin ? <Settings /> : admin ? <Databases /> : <Users />}
    </Page>
  );
}

// What a view shows as long as it is empty: what the thing is, and how the first one is made.
import type { ComponentChildren } from "preact";
import { signedIn } from "../api";
import { A, Card, Empty } from "./layout";
import { Code } from "./text";

/** First says it in words, with an act of the page, a command of the shell and the way to code for an app. */
export function First({
  icon,
  title,
  children,
  act,
  shell,
  service,
}: {
  icon: string;
  title: string;
  children: ComponentChildren;
  act?: ComponentChildren;
  shell?: string;
  service?: "Messages" | "Workflows" | "Keyspace";
}) {
  const may = signedIn(),
    app = service && (may.admin || (service === "Keyspace" ? may.keyspace : may.messages !== ""));
  return (
    <Card>
      <Empty icon={icon} title={title} act={act}>
        {children}
      </Empty>
      {(shell || app) && (
        <div class="first">
          {shell && (
            <>
              <p class="dim">From a shell</p>
              <Code label="Command" text={shell} />
            </>
          )}
          {app && (
            <A to="/connect" q={{ service }}>
              Variables and code for an app
            </A>
          )}
        </div>
      )}
    </Card>
  );
}

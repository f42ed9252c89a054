import { CliError, EXIT_FAILED } from "@sluice/project/errors";
import type { OnBroker } from "../on-broker.ts";
import { type Patience, patiently } from "../patience.ts";

/** Refuses a broker whose API can neither lease messages nor recognise repeated ones. */
export async function refuseOldBroker({ client }: OnBroker, patience: Patience): Promise<void> {
  const { endpoints } = await patiently(patience, () =>
    client.admin<{ endpoints: { path: string }[] }>({ path: "" }),
  );
  if (endpoints.some(({ path }) => path.endsWith("/messages/lease"))) return;
  throw new CliError(
    `The broker at ${client.url} is of an earlier version, which does not recognise messages that come twice. ` +
      "Deploy it again, or start it with this version.",
    EXIT_FAILED,
  );
}

import { variableText } from "../variable-text.ts";
import { ALERTS_SECRET, ALERTS_URL } from "./alerts.ts";
import type { QueueTopology } from "./topology.ts";

type Variables = Readonly<Record<string, unknown>>;
type Alerts = Pick<QueueTopology, "alerts">;

/** Finds the URL of the webhook that alerts go to: the broker's own variable before the configuration. */
export function alertsUrlOf(env: Variables, { alerts }: Alerts): string | undefined {
  return variableText(env[ALERTS_URL]) || alerts?.url;
}

/** Says why no alert can be sent; `null` where nothing is missing, and for a broker without alerts. */
export function alertsTrouble(env: Variables, { alerts }: Alerts): string | null {
  if (alerts === undefined) return null;
  if (alertsUrlOf(env, { alerts }) === undefined) {
    return `[sluice.alerts] has no url, and the environment variable ${ALERTS_URL} is not set`;
  }
  const hasKey = alerts.format !== "webhook" || variableText(env[ALERTS_SECRET]) !== "";
  return hasKey ? null : `the environment variable ${ALERTS_SECRET} is not set`;
}

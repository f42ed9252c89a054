import type { Listening } from "../dev/wrangler-process.ts";
import type { Project } from "../project/project.ts";
import { SLUICE_PATH } from "../runtime/front-door-contract.ts";

/** URL of the primary Worker, without a slash at its end. */
export function urlOf({ host, port }: Listening, { workers, broker }: Project): string {
  const settings = (workers[0]?.wrangler ?? broker.wrangler).dev;
  return `${settings.local_protocol}://${browsable(host)}:${port}`;
}

/** Where to reach the primary Worker and the broker. */
export function addresses(url: string, { workers }: Project): string {
  const [primary] = workers;
  return [
    ...(primary === undefined ? [] : [`${primary.name}  ${url}/`]),
    `queues  ${url}${SLUICE_PATH}/`,
    `admin   ${url}${SLUICE_PATH}/api/`,
  ].join("\n");
}

/** An address that stands for all of this machine's is none to open. */
function browsable(host: string): string {
  if (host === "0.0.0.0" || host === "*" || host === "::") return "localhost";
  return host.includes(":") ? `[${host}]` : host;
}

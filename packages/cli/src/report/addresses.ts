import type { Listening } from "../dev/wrangler-process.ts";
import { SLUICE_PATH } from "../generate/front-door.ts";
import type { Project } from "../project/project.ts";

/** Where to reach the primary Worker and the broker, once Wrangler listens. */
export function addresses({ host, port }: Listening, project: Project): string {
  const [primary] = project.workers;
  const settings = (primary?.wrangler ?? project.broker.wrangler).dev;
  const url = `${settings.local_protocol}://${browsable(host)}:${port}`;
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

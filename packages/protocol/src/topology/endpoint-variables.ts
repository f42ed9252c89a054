import type { HttpPushSettings, QueueTopology } from "./topology.ts";

/** Beginning of the names of the broker's own settings, its secrets among them. No endpoint is called with one. */
export const OWN_VARIABLE_PREFIX = "SLUICE_";

/** Lists the environment variables that an endpoint's settings ask for: the key of signatures, values of headers. */
export function variablesOf({
  signingSecret,
  headers = {},
}: Pick<HttpPushSettings, "signingSecret" | "headers">): string[] {
  const inHeaders = Object.values(headers).flatMap((value) => (value.startsWith("$") ? value.slice(1) : []));
  return [...(signingSecret === undefined ? [] : [signingSecret]), ...inHeaders];
}

/**
 * Lists the environment variables whose values HTTP endpoints may be sent: those that a configuration asks for.
 * Endpoints that an API has set add none.
 *
 * @param url of an endpoint: only those that a configuration asks for at the same origin. Default: all of them.
 */
export function endpointVariables({ queues }: QueueTopology, url?: string): string[] {
  const names = Object.values(queues).flatMap(({ consumer }) => {
    if (consumer?.type !== "http_push") return [];
    return url === undefined || isSameOrigin(consumer.settings.url, url)
      ? variablesOf(consumer.settings)
      : [];
  });
  return [...new Set(names)].filter((name) => !name.startsWith(OWN_VARIABLE_PREFIX)).sort();
}

function isSameOrigin(one: string, other: string): boolean {
  const origin = URL.parse(one)?.origin;
  return origin !== undefined && origin === URL.parse(other)?.origin;
}

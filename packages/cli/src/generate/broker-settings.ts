import type { QueueTopology } from "@sluice/protocol";
import { LAST_END_VARIABLE } from "./names.ts";

/** Settings of the broker that commands take from the environment of their own process. */
export const BROKER_SETTINGS = [
  "SLUICE_API_TOKENS",
  "SLUICE_ALLOWED_HOSTS",
  "SLUICE_PUSH_HOSTS",
  "SLUICE_AWS_ACCESS_KEYS",
  "SLUICE_AWS_REGION",
  "SLUICE_AWS_ACCOUNT_ID",
  "SLUICE_AWS_STRICT_TIMING",
] as const;

/** Which of the broker's variables Wrangler must not print. */
export const SECRET_SETTINGS: readonly string[] = [
  "SLUICE_API_TOKENS",
  "SLUICE_AWS_ACCESS_KEYS",
  LAST_END_VARIABLE,
];

/** Names of the environment variables that HTTP endpoints are called with: keys of signatures, values of headers. */
export function endpointVariables({ queues }: QueueTopology): string[] {
  const names = Object.values(queues).flatMap(({ consumer }) => {
    if (consumer?.type !== "http_push") return [];
    const { signingSecret, headers = {} } = consumer.settings;
    const inHeaders = Object.values(headers).filter((value) => value.startsWith("$"));
    return [
      ...(signingSecret === undefined ? [] : [signingSecret]),
      ...inHeaders.map((value) => value.slice(1)),
    ];
  });
  return [...new Set(names)].sort();
}

/** Those of the variables that are set, and not to nothing. */
export function setVariables(
  names: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const entries = names.map((name): [string, string] => [name, environment[name] ?? ""]);
  return Object.fromEntries(entries.filter(([, value]) => value !== ""));
}

/** A `.dev.vars` file with variables. Wrangler shows them as hidden. */
export function devVarsFile(variables: Readonly<Record<string, string>>): string {
  return Object.entries(variables)
    .map(([name, value]) => `${name}=${quoted(value)}\n`)
    .join("");
}

/** Nothing is expanded in single quotes, and nothing can be escaped. */
function quoted(value: string): string {
  return value.includes("'") || value.includes("\n") ? JSON.stringify(value) : `'${value}'`;
}

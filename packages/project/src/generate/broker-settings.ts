import { ALERTS_SECRET, ALERTS_URL } from "@sluice/protocol";
import { LAST_END_VARIABLE, R2_VARIABLE, STACKS_VARIABLE } from "../names.ts";

/** Settings of the broker's traces. */
const TRACE_SETTINGS = [
  "SLUICE_OTLP_ENDPOINT",
  "SLUICE_OTLP_HEADERS",
  "SLUICE_TRACE_RATIO",
  "SLUICE_TRACE_URL",
] as const;

/** Settings of the broker that commands take from their own environment. */
export const BROKER_SETTINGS = [
  "SLUICE_API_TOKENS",
  "SLUICE_ALLOWED_HOSTS",
  "SLUICE_PUSH_HOSTS",
  "SLUICE_PUBLIC_URL",
  "SLUICE_TRUST_PROXY",
  "SLUICE_AWS_ACCESS_KEYS",
  "SLUICE_AWS_REGION",
  "SLUICE_AWS_ACCOUNT_ID",
  "SLUICE_AWS_STRICT_TIMING",
  ...TRACE_SETTINGS,
  ALERTS_SECRET,
  ALERTS_URL,
] as const;

/** Variables that a process sets for the broker that it runs. A deployed broker has none of them. */
export const PROCESS_VARIABLES: readonly string[] = [LAST_END_VARIABLE, R2_VARIABLE, STACKS_VARIABLE];

/** Settings of the broker that may be in no file. `sluice dev` passes them to the broker within Wrangler's process. */
export const UNWRITTEN_SETTINGS: readonly string[] = [ALERTS_SECRET, ALERTS_URL];

/** Settings of the broker that Wrangler must not print. A deployment uploads them as secrets, from its environment. */
export const SECRET_SETTINGS: readonly string[] = [
  "SLUICE_API_TOKENS",
  "SLUICE_AWS_ACCESS_KEYS",
  ...TRACE_SETTINGS,
  ...UNWRITTEN_SETTINGS,
  ...PROCESS_VARIABLES,
];

/** Picks the variables that are set and not empty. */
export function setVariables(
  names: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const entries = names.map((name): [string, string] => [name, environment[name] ?? ""]);
  return Object.fromEntries(entries.filter(([, value]) => value !== ""));
}

/** Formats variables as a `.dev.vars` file, whose values Wrangler does not show. */
export function devVarsFile(variables: Readonly<Record<string, string>>): string {
  return Object.entries(variables)
    .map(([name, value]) => `${name}=${quoted(value)}\n`)
    .join("");
}

/** Quotes a value. Nothing is expanded in single quotes, and nothing can be escaped there. */
function quoted(value: string): string {
  return value.includes("'") || value.includes("\n") ? JSON.stringify(value) : `'${value}'`;
}

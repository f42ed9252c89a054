import { ALERTS_SECRET, ALERTS_URL } from "@sluice/protocol";
import { CliError } from "../errors.ts";
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

/**
 * Formats variables as a `.dev.vars` file, whose values Wrangler does not show.
 *
 * @throws CliError for a value that cannot be written so that Wrangler reads it unchanged.
 */
export function devVarsFile(variables: Readonly<Record<string, string>>): string {
  return Object.entries(variables)
    .map(([name, value]) => `${name}=${quoted(name, value)}\n`)
    .join("");
}

/**
 * Writes a value as Wrangler's reader, dotenv 16.3, reads it. The reader undoes no escapes but `\n` and `\r`, and those
 * in double quotes alone. After a backslash it takes the last quote for a part of the value, and goes on to the next
 * one, maybe in another variable. A carriage return becomes a line feed.
 */
function quoted(name: string, value: string): string {
  const isAsIs = value.trim() === value && !/^['"`]|[#\r\n\u2028\u2029]/.test(value);
  if (isAsIs && /['\\]/.test(value)) return value;
  const quote = ["'", "`", '"'].find((each) => !value.includes(each));
  if (quote !== undefined && !/\r|\\$/.test(value) && !(quote === '"' && /\\[nr]/.test(value))) {
    return `${quote}${value}${quote}`;
  }
  throw new CliError(
    `${name} cannot be handed to Wrangler, whose .dev.vars has no form for its value: it has a carriage return, ` +
      "several kinds of quotes, or a backslash at its end. Set it to another one.",
  );
}

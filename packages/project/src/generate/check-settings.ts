import { parseAccessKeys, parseAccountId } from "@sluice/aws/access-settings";
import {
  ALERTS_SECRET,
  checkAlertsSecret,
  isReservedActor,
  parseOtlpEndpoint,
  parseOtlpHeaders,
  parsePublicUrl,
  parseTraceRatio,
  parseTraceUrl,
  parseTrustProxy,
} from "@sluice/protocol";
import { CliError } from "../errors.ts";

const CHECKS = {
  SLUICE_API_TOKENS: (text: string) => {
    // A header can contain no other characters than these.
    checkList(
      text,
      /^[\x21-\x7e]+$/,
      "SLUICE_API_TOKENS must be tokens without blanks, several of them separated by commas",
    );
    if (/^[\s,]*$/.test(text)) throw new RangeError("SLUICE_API_TOKENS is set, and names no token");
  },
  SLUICE_PUSH_HOSTS: (text: string) =>
    checkList(
      text,
      /^(\[[\da-f:.]+\]|[^\s:/?#@[\]\\]+)(:\d+)?$/i,
      "SLUICE_PUSH_HOSTS must be hosts, with or without a port, separated by commas, such as db.internal:8080",
    ),
  SLUICE_ALLOWED_HOSTS: (text: string) =>
    checkList(
      text,
      /^(\[[\da-f:.]+\]|[^\s:/?#@[\]\\]+)$/i,
      "SLUICE_ALLOWED_HOSTS must be names of hosts, separated by commas, such as tunnel.example.com",
    ),
  SLUICE_AWS_ACCESS_KEYS: (text: string) => parseAccessKeys(text, isReservedActor),
  SLUICE_AWS_ACCOUNT_ID: parseAccountId,
  SLUICE_PUBLIC_URL: parsePublicUrl,
  SLUICE_TRUST_PROXY: parseTrustProxy,
  SLUICE_OTLP_ENDPOINT: parseOtlpEndpoint,
  SLUICE_OTLP_HEADERS: parseOtlpHeaders,
  SLUICE_TRACE_RATIO: parseTraceRatio,
  SLUICE_TRACE_URL: parseTraceUrl,
  [ALERTS_SECRET]: checkAlertsSecret,
};

/** Checks a list, separated by commas. Throws a `RangeError` for an entry of another form. */
function checkList(text: string, form: RegExp, problem: string): void {
  const entries = text.split(",").map((entry) => entry.trim());
  if (entries.some((entry) => entry !== "" && !form.test(entry))) throw new RangeError(problem);
}

/**
 * Checks the broker's settings at the start of a command, rather than at the first request.
 *
 * @param variables variables of the broker.
 * @throws CliError for malformed settings, and for those with which the broker would refuse all clients.
 */
export function checkSettings(variables: Readonly<Record<string, unknown>>): void {
  for (const [name, parse] of Object.entries(CHECKS)) {
    const value = variables[name] ?? "";
    if (value === "") continue;
    try {
      parse(String(value));
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw new CliError(`${error.message}.`);
    }
  }
}

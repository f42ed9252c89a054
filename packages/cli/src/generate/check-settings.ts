import { parseAccessKeys, parseAccountId } from "@sluice/aws/access-settings";
import { isReservedActor, parsePublicUrl, parseTrustProxy } from "@sluice/protocol";
import { CliError } from "../errors.ts";

const CHECKS = {
  SLUICE_AWS_ACCESS_KEYS: (text: string) => parseAccessKeys(text, isReservedActor),
  SLUICE_AWS_ACCOUNT_ID: parseAccountId,
  SLUICE_PUBLIC_URL: parsePublicUrl,
  SLUICE_TRUST_PROXY: parseTrustProxy,
};

/**
 * Throws CliError for settings by which the broker would refuse every client of AWS: better now than when the first one
 * comes.
 *
 * @param variables the broker's.
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

/** Account numbers of AWS. */
const ACCOUNT_ID = /^\d{12}$/;

/**
 * Reads `KEY:SECRET,KEY:SECRET`. Throws RangeError on anything else.
 *
 * @param isReserved whether an id is refused, since something else has that name.
 */
export function parseAccessKeys(text: string, isReserved: (id: string) => boolean): Map<string, string> {
  const secrets = new Map<string, string>();
  for (const pair of text.split(",")) {
    const [key, ...secret] = pair.trim().split(":");
    if (!key || secret.length === 0 || secret.join(":") === "") {
      throw new RangeError("SLUICE_AWS_ACCESS_KEYS must be KEY:SECRET, several of them separated by commas");
    }
    if (isReserved(key)) {
      throw new RangeError(
        `SLUICE_AWS_ACCESS_KEYS names a key "${key}", and the audit log calls something else that`,
      );
    }
    secrets.set(key, secret.join(":"));
  }
  return secrets;
}

/** Account of callers that name none: emulators have agreed on it. */
export const ACCOUNT_DEFAULT = "000000000000";

/** Reads the home account. Throws RangeError for a text that is no account number of AWS. */
export function parseAccountId(text: string): string {
  if (!ACCOUNT_ID.test(text)) throw new RangeError("SLUICE_AWS_ACCOUNT_ID must have twelve digits");
  return text;
}

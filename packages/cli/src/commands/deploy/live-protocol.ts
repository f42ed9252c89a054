import { isSpoken, PROTOCOL_VERSION } from "@sluice/protocol";

/** Reads the protocol from a version's tag; 1 for builds older than protocol numbers, `null` for other tags. */
export function protocolOf(tag: string | null): number | null {
  const match = /^sluice-(?:p(\d+)-)?[0-9a-f]{12}$/.exec(tag ?? "");
  return match === null ? null : Number(match[1] ?? 1);
}

/**
 * Makes the warning before a deployment replaces a broker whose protocol is too far from this release's; `null` where
 * the protocol is near enough or unknown.
 *
 * @param tag tag of the broker's version that gets the requests.
 */
export function protocolWarning(tag: string | null): string | null {
  const live = protocolOf(tag);
  if (live === null || isSpoken(live)) return null;
  const between = live < PROTOCOL_VERSION ? PROTOCOL_VERSION - 1 : PROTOCOL_VERSION + 1;
  return (
    `! The broker on the account speaks protocol ${live}, and this release ${PROTOCOL_VERSION}. Once the broker is ` +
    `replaced, the sends of\n  Workers that are not replaced fail, and messages for such consumers wait. Deploy a ` +
    `release that speaks ${between}\n  first: then nothing fails or waits.`
  );
}

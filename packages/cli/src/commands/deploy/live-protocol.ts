import { isSpoken, PROTOCOL_VERSION } from "@sluice/protocol";

/** The protocol of what a version's tag names; 1 for builds from before there were numbers, `null` for other tags. */
export function protocolOf(tag: string | null): number | null {
  const [, number] = /^sluice-(?:p(\d+)-)?[0-9a-f]{12}$/.exec(tag ?? "") ?? [];
  if (number !== undefined) return Number(number);
  return /^sluice-[0-9a-f]{12}$/.test(tag ?? "") ? 1 : null;
}

/**
 * Makes the warning before a broker is replaced whose protocol is too far from this release's; `null` where it is not,
 * or is not known.
 *
 * @param tag of the version of the broker that gets the requests.
 */
export function protocolWarning(tag: string | null): string | null {
  const live = protocolOf(tag);
  if (live === null || isSpoken(live)) return null;
  const between = live < PROTOCOL_VERSION ? PROTOCOL_VERSION - 1 : PROTOCOL_VERSION + 1;
  return (
    `! The broker on the account speaks protocol ${live}, and this release ${PROTOCOL_VERSION}. Once the broker is ` +
    `replaced, the sends of\n  Workers that are not fail, and messages wait for consumers that are not. Deploy a ` +
    `release that speaks ${between}\n  first, and nobody notices.`
  );
}

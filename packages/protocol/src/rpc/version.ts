/**
 * Number of the protocol that Workers and their broker speak. Cloudflare rolls a deployment out over minutes, in which
 * a new producer calls an old broker, and an old one a new broker; the same holds for consumers. So each call names the
 * number of its caller, and the callee takes its own number, the one before and the one after it. A release may raise
 * the number by one, and the release before must understand what it sends.
 */
export const PROTOCOL_VERSION = 2;

/** Protocol number of a caller that names none: a build from before there were numbers. */
const UNNUMBERED = 1;

/** Whether a call of that protocol number can be taken. Costs a comparison: it is checked at every call. */
export function isSpoken(protocol: unknown): boolean {
  return Math.abs(numberOf(protocol) - PROTOCOL_VERSION) <= 1;
}

/**
 * Says which side of a call that cannot be taken is too old, and how to mend it.
 *
 * @param caller, callee names of both sides: `the broker`, `Worker "shop"`.
 */
export function protocolRefusal(caller: string, callee: string, protocol: unknown): string {
  const number = numberOf(protocol);
  const [older, newer] = number < PROTOCOL_VERSION ? [caller, callee] : [callee, caller];
  return (
    `${caller} speaks protocol ${number}, ${callee} takes ${PROTOCOL_VERSION - 1} to ${PROTOCOL_VERSION + 1}: ` +
    `deploy ${older} again, with the release of ${newer}. "sluice deploy" deploys all of them.`
  );
}

function numberOf(protocol: unknown): number {
  return typeof protocol === "number" ? protocol : UNNUMBERED;
}

import { SLUICE_PATH } from "@sluice/project/runtime/front-door-contract";
import type { RoomListener } from "../data/reserve.ts";
import { callBroker } from "./call-broker.ts";
import { fetchHere } from "./fetch-here.ts";

/** Longest that a broker may take to end what waits, in ms. */
const STOP_MS_MAX = 1_000;

/** Tells a broker that it is about to be ended: receives wait no longer. One that does not answer is ended as it is. */
export async function tellStop(
  url: string,
  headers: Readonly<Record<string, string>>,
  atOnce: AbortSignal,
): Promise<void> {
  const signal = AbortSignal.any([atOnce, AbortSignal.timeout(STOP_MS_MAX)]);
  const path = `${SLUICE_PATH}/api/stop`;
  await callBroker(url, { method: "POST", path, headers, signal }).catch(() => {});
}

/**
 * Tells a broker on workerd whether its disk is full. It is told again at the next look, so a request that fails is no
 * matter.
 *
 * @param url where its admin API answers, without a slash at its end; `null` while it does not.
 * @param headers what that wants of who asks.
 */
export function tellDisk(
  url: () => string | null,
  headers: Readonly<Record<string, string>> = {},
): RoomListener {
  return (isFull) => tell(url(), headers, "disk", { isFull });
}

/** Tells a broker on workerd how far its time is behind the system's clock. It is told again within a second. */
export function tellClock(
  url: () => string | null,
  headers: Readonly<Record<string, string>>,
): (behindMs: number) => void {
  return (behindMs) => tell(url(), headers, "system-clock", { behindMs });
}

function tell(
  base: string | null,
  headers: Readonly<Record<string, string>>,
  name: string,
  body: Readonly<Record<string, unknown>>,
): void {
  if (base === null) return;
  const path = `${SLUICE_PATH}/api/${name}`;
  callBroker(base, { method: "POST", path, headers, body }, fetchHere).catch(() => {});
}

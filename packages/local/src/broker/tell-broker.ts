import { SLUICE_PATH } from "@sluice/project/runtime/front-door-contract";
import type { RoomListener } from "../data/reserve.ts";
import { callBroker } from "./call-broker.ts";
import { fetchHere } from "./fetch-here.ts";

/** Longest that a broker may take to end its waiting receives, in ms. */
const STOP_MS_MAX = 1_000;
/** Longest that any other call may take, in ms: a broker that hangs must not have one more open with each call. */
const TELL_MS_MAX = 5_000;

/**
 * Tells a broker that it is about to be ended, so that it answers waiting receives. Resolves also if the call fails.
 *
 * @param atOnce ends the call.
 */
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
 * Makes a listener that tells a broker on workerd whether its disk is full. A failed request is ignored: while the disk
 * is full, the listener is called every `LOOK_EVERY_MS`.
 *
 * @param url base URL of its admin API, without a slash at its end; `null` while it does not answer.
 * @param headers headers that authorize the call.
 */
export function tellDisk(
  url: () => string | null,
  headers: Readonly<Record<string, string>> = {},
): RoomListener {
  return (isFull) => tell(url(), headers, "disk", { isFull });
}

/** Makes a listener that tells a broker on workerd how far its time is behind the system's clock; ignores failures. */
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
  const signal = AbortSignal.timeout(TELL_MS_MAX);
  callBroker(base, { method: "POST", path, headers, body, signal }, fetchHere).catch(() => {});
}

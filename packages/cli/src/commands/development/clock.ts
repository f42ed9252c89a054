import type { ClockView } from "@sluice/gateway/views";
import { span } from "@sluice/protocol/words";
import { answer, type OnBroker } from "../on-broker.ts";

interface ChangedClock extends ClockView {
  readonly advancedMs?: number;
  /** Queue and time that a jump led to; `null` where no queue waits for anything. */
  readonly next?: { readonly queue: string; readonly at: string } | null;
}

/** A change of the clock, as the API takes it. */
type ClockChange =
  | { readonly advanceMs: number }
  | { readonly to: "next"; readonly queue?: string; readonly expire?: boolean }
  | { readonly freeze: boolean };

/** `sluice clock show`. */
export async function showClock(on: OnBroker): Promise<number> {
  const clock = await on.client.admin<ClockView>({ path: "/clock" });
  answer(on, clock, { text: textOf(clock) });
  return 0;
}

/** `sluice clock advance`, `next`, `freeze` and `follow`. */
export async function changeClock(on: OnBroker, change: ClockChange): Promise<number> {
  const clock = await on.client.admin<ChangedClock>({ method: "POST", path: "/clock", body: change });
  answer(on, clock, { text: `${reached(clock)}${textOf(clock)}` });
  return 0;
}

function reached({ next }: ChangedClock): string {
  if (next === undefined) return "";
  return next === null ? "Nothing waits. " : `Something is due in ${next.queue}. `;
}

function textOf({ now, aheadMs, isFrozen }: ClockView): string {
  const state = isFrozen ? "frozen at" : "running,";
  const side = aheadMs > 0 ? "ahead of" : "behind";
  const apart = Math.abs(aheadMs) < 1_000 ? "real time" : `${span(Math.abs(aheadMs))} ${side} real time`;
  return `The clock is ${state} ${now}: ${apart}.`;
}

import type { StoryGapView, StoryView } from "@sluice/gateway/views";
import { queuePath } from "../../client/queues.ts";
import { answer, type OnBroker } from "../on-broker.ts";
import { eventLine } from "./event-line.ts";

/** `sluice messages story`: what happened to a message, over queues. */
export async function story(on: OnBroker, queue: string, id: string): Promise<number> {
  const path = queuePath(queue, `/messages/${encodeURIComponent(id)}/story`);
  const told = await on.client.admin<StoryView>({ path });
  if (told.events.length === 0) answer(on, told, { words: `Nothing is known of ${id} in ${queue}.` });
  else answer(on, told, { text: told.events.map(eventLine).join("\n") });
  if (!on.json) {
    for (const gap of told.gaps) on.printer.warn(gapText(gap));
  }
  return 0;
}

/** Why something of a story may be missing, and until when. */
export function gapText({ queue, reason, until }: StoryGapView): string {
  return `Of ${queue} something may be missing${until === null ? "" : ` until ${until}`}: ${GAPS[reason]}.`;
}

const GAPS: Readonly<Record<StoryGapView["reason"], string>> = {
  merged: "more happened there than is kept one by one",
  overwritten: "later events have taken its place",
  off: 'it keeps no history ("history" of [sluice.queues] has it keep one)',
  unknown: "nothing was noted there of this message",
};

import type { StoryView } from "@sluice/gateway/views";
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
    for (const { queue: where, reason, until } of told.gaps) {
      on.printer.warn(
        `Of ${where} something may be missing (${reason}${until === null ? "" : ` until ${until}`}).`,
      );
    }
  }
  return 0;
}

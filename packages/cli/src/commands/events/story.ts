import type { StoryGapView, StoryView } from "@sluice/gateway/views";
import { CliError, EXIT_NOT_FOUND } from "@sluice/project/errors";
import { queuePath } from "../../client/queues.ts";
import { answer, type OnBroker } from "../on-broker.ts";
import { eventLines } from "./event-line.ts";

/**
 * `sluice messages story`: shows what happened to a message, across queues.
 *
 * @throws CliError with `EXIT_NOT_FOUND` where nothing is known of it.
 */
export async function story(on: OnBroker, queue: string, id: string): Promise<number> {
  const path = queuePath(queue, `/messages/${encodeURIComponent(id)}/story`);
  const known = await on.client.admin<StoryView>({ path });
  if (known.events.length === 0) {
    const gap = known.gaps.find(({ reason }) => reason !== "unknown");
    const why = gap === undefined ? "" : ` ${gapText(gap)}`;
    throw new CliError(`Nothing is known of a message ${id} in ${queue}.${why}`, EXIT_NOT_FOUND);
  }
  const { trace } = known;
  const lines = known.events.flatMap((event) => eventLines(event, on.printer));
  if (trace !== undefined) lines.push(`trace ${trace.url ?? trace.id}`);
  answer(on, known, { text: lines.join("\n") });
  if (!on.json) {
    for (const gap of known.gaps) on.printer.warn(gapText(gap));
  }
  return 0;
}

/** Explains why a part of a story may be missing, with the times of the gap. */
export function gapText({ queue, reason, since, until }: StoryGapView): string {
  const times = `${since === null ? "" : ` from ${since}`}${until === null ? "" : ` until ${until}`}`;
  const isLost = reason === "unknown" && since !== null;
  return `Events of ${queue} may be missing${times}: ${isLost ? LOST : GAPS[reason]}.`;
}

/** Explanation of a gap after a known event without another reason. */
const LOST = "they were not noted, as a crash loses what went well just before";

const GAPS: Readonly<Record<StoryGapView["reason"], string>> = {
  merged: "it had too many events to keep each one",
  overwritten: "later events have replaced them",
  off: 'it keeps no history ("history" of [sluice.queues] has it keep one)',
  unknown: "its history has none of this message",
};

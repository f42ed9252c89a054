import { CliError, EXIT_NO_BROKER } from "@sluice/project/errors";
import { liveFrames, type WhichEvents } from "../../client/events.ts";
import type { OnBroker } from "../on-broker.ts";
import { eventLines } from "./event-line.ts";

/** `sluice tail`: prints events as they happen until it is interrupted, or the broker ends. */
export async function tail({ client, printer, json }: OnBroker, which: WhichEvents): Promise<number> {
  for await (const { isSnapshot, isGap, queues, events } of liveFrames(client, which)) {
    // Only the first frame is a snapshot without a gap.
    if (isSnapshot && !isGap) {
      const off = queues.filter(({ isOn }) => !isOn).map(({ name }) => name);
      printer.warn(`Waiting for events in ${which.queue ?? "all queues"} of ${client.url}.`);
      if (off.length > 0) {
        printer.warn(`No history is kept of ${off.join(", ")}, so its events are not shown.`);
      }
    }
    if (isGap) {
      printer.warn("Some events were too many to be shown; sluice messages story has those of a message.");
    }
    for (const event of events) {
      for (const line of json ? [JSON.stringify(event)] : eventLines(event, printer)) printer.print(line);
    }
  }
  throw new CliError(`The broker at ${client.url} has ended.`, EXIT_NO_BROKER);
}

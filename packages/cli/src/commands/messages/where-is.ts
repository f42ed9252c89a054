import { CliError, EXIT_NOT_FOUND, EXIT_USAGE } from "@sluice/project/errors";
import { searchAll } from "../../client/messages.ts";
import type { OnBroker } from "../on-broker.ts";

/** A message by its queue and its id. */
export interface MessageAt {
  readonly queue: string;
  readonly id: string;
}

/**
 * Finds the queue of a message by its id alone, or by 8 or more digits at the beginning of its id.
 *
 * @param isGoneToo whether to find messages that are gone too, in the queues that they were in. Default: false.
 * @throws CliError with `EXIT_USAGE` for a malformed id, and where several messages have ids with this beginning; with
 *   `EXIT_NOT_FOUND` where no message has.
 */
export async function whereIs({ client }: OnBroker, id: string, isGoneToo = false): Promise<MessageAt> {
  if (!/^[\da-f-]{8,36}$/i.test(id)) {
    throw new CliError(
      `"${id}" is no id of a message, which has 32 digits, nor its first 8 or more. Name its queue first, then the id.`,
      EXIT_USAGE,
    );
  }
  const { messages, gone, unfinished } = await searchAll(client, `id:${id}`);
  const found = messages.flatMap(({ queue, messages: shown }) => shown.map((one) => ({ ...one, queue })));
  // The same id in several queues is one message. It is in the queue where it is not finished.
  const ids = [...new Set(found.map((one) => one.id))];
  const here = ids.flatMap((whole) => {
    const same = found.filter((one) => one.id === whole);
    return same.find(({ state }) => state !== "finished") ?? same.slice(0, 1);
  });
  const [only, ...others] = here.length > 0 || !isGoneToo ? here : gone;
  if (others.length > 0) {
    const list = [only, ...others].map((one) => `${one?.queue} ${one?.id}`).join(", ");
    throw new CliError(`Several messages have ids that begin with ${id}: ${list}.`, EXIT_USAGE);
  }
  if (only !== undefined) return { queue: only.queue, id: only.id };
  const [past] = gone;
  const hint =
    past === undefined ? "" : ` sluice messages story ${past.queue} ${past.id} tells what happened to it.`;
  const left = unfinished.map(({ queue }) => queue).join(", ");
  const rest = left === "" ? "" : ` Not searched to the end: ${left}.`;
  throw new CliError(`No queue has a message ${id}.${hint}${rest}`, EXIT_NOT_FOUND);
}

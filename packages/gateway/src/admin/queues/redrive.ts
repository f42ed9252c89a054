import type { MessageFilter, MoveTask, QueueRecord } from "@sluice/protocol";
import * as z from "zod/mini";
import type { QueueDirectory } from "../../account/queue-directory.ts";
import { parseJson } from "../../http/bounded-json.ts";
import type { Rights } from "../../rights/rights.ts";
import { AdminError, queueNotFound } from "../failure.ts";
import { type DryRun, SELECTION, SELECTION_TEXT, selectionOf, tryOut } from "../messages/selection.ts";
import { deadLetterSources } from "./dead-letters.ts";

/** Body of a request that moves dead letters. */
export const redriveBody = z.strictObject({ to: z.nullish(z.string()), ...SELECTION });
const BODY_TEXT =
  'The body must be {} or an object with any of "to" (the queue that takes the messages), ' +
  `${SELECTION_TEXT}.`;

/**
 * Starts moving the messages that wait in a dead-letter queue, or a selection of them: to another queue, or each back
 * to the one that it came from (spec sqs 6.4), as far as the caller may send there. A dry run moves nothing and shows
 * the messages that would move.
 *
 * @param text body of the request.
 * @param caller its rights; `check` throws for a queue that it may not use.
 * @throws AdminError for a body that is no such request, for a queue that takes no dead letters, and while a task runs.
 */
export async function redrive(
  directory: QueueDirectory,
  record: QueueRecord,
  text: string,
  { rights, check }: { readonly rights: Rights; check(queue: string): void },
): Promise<MoveTask | DryRun> {
  const { to, dryRun = false, cursor, ...selected } = requestIn(text);
  const target = to ?? null;
  const selection = selectionOf(selected, rights);
  const { name } = record;
  const [queues, subscriptions] = await Promise.all([
    directory.account.list(),
    directory.topics.listTopicSubscriptions(),
  ]);
  const sources = deadLetterSources(name, queues, subscriptions);
  if (sources.queues.length === 0 && sources.subscriptions.length === 0) {
    throw new AdminError(
      409,
      "no_dead_letter_queue",
      `No queue and no subscription sends dead letters to "${name}".`,
    );
  }
  if (target === null && sources.queues.length === 0) {
    const why = `What "${name}" holds comes from topics: name the queue that takes it, as {"to": "NAME"}.`;
    throw new AdminError(400, "target_required", why);
  }
  if (target !== null) {
    check(target);
    checkTarget(record, target, queues);
  }
  // Dead letters of queues name the queue that they come from; those of topics, and messages that were sent straight to
  // this one, do not.
  const [only, another] = [...sources.queues, ...sources.subscriptions];
  const fallback = target === null && only !== undefined && another === undefined ? { fallback: only } : {};
  const { queues: mayReach } = rights;
  const limits = target === null && mayReach.length > 0 ? { ...fallback, mayReach } : null;
  const isSelection = Object.keys(selection).length > 0;
  if (dryRun) {
    // Without a selection those that are ready would move, else those that wait.
    const filter: MessageFilter = isSelection
      ? (selection.filter ?? [])
      : [{ field: "state", state: "ready" }];
    const wanted = { ...selection, filter, isWaiting: true, ...(limits && { returning: limits }) };
    return tryOut(directory, name, rights, wanted, cursor);
  }
  const move = {
    taskId: crypto.randomUUID(),
    target,
    ratePerSecond: null,
    ...(limits ?? fallback),
    ...(isSelection ? { selection } : {}),
  };
  const reply = await directory.queue(name).startMove(name, move);
  if (reply.ok) return reply.task;
  throw new AdminError(409, "move_active", `Messages of "${name}" are being moved already.`);
}

/**
 * Ends the move that is under way. Messages that have left the queue stay where they went.
 * Throws `AdminError` when there is none.
 */
export async function cancelRedrive(directory: QueueDirectory, name: string): Promise<MoveTask> {
  const queue = directory.queue(name);
  const active = (await queue.listMoves(name)).find(({ status }) => status === "running");
  const reply = active === undefined ? null : await queue.cancelMove(name, active.taskId);
  if (reply?.ok === true) return reply.task;
  throw new AdminError(409, "no_move", `No messages of "${name}" are being moved.`);
}

function requestIn(text: string): z.infer<typeof redriveBody> {
  let json: unknown;
  try {
    json = text === "" ? {} : parseJson(text);
  } catch {
    throw new AdminError(400, "invalid_body", BODY_TEXT);
  }
  const read = redriveBody.safeParse(json);
  if (!read.success) throw new AdminError(400, "invalid_body", BODY_TEXT);
  return read.data;
}

function checkTarget(source: QueueRecord, target: string, queues: readonly QueueRecord[]): void {
  const record = queues.find(({ name }) => name === target);
  if (record === undefined) throw queueNotFound(target);
  if (target === source.name) {
    throw new AdminError(400, "same_queue", "The messages are in that queue already.");
  }
  if ((record.definition.fifo === undefined) !== (source.definition.fifo === undefined)) {
    throw new AdminError(400, "other_kind", "Of the two queues one is FIFO and the other is not.");
  }
}

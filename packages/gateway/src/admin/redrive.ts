import type { MoveTask, QueueRecord } from "@sluice/protocol";
import { z } from "zod";
import type { QueueDirectory } from "../account/queue-directory.ts";
import { deadLetterSources } from "./dead-letters.ts";
import { AdminError, queueNotFound } from "./failure.ts";

const body = z.strictObject({ to: z.string().nullish() });
const BODY_TEXT = 'The body must be {} or {"to": "NAME"}, the queue that takes the messages.';

/**
 * Starts moving everything that waits in a dead-letter queue: to another queue, or each message back to the one that it
 * came from (spec sqs 6.4).
 *
 * @param text body of the request.
 * @throws AdminError for what is no such request, for a queue that takes nobody's dead letters, and while a task runs.
 */
export async function redrive(
  directory: QueueDirectory,
  record: QueueRecord,
  text: string,
): Promise<MoveTask> {
  const target = targetIn(text);
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
  if (target !== null) checkTarget(record, target, queues);
  // Dead letters of queues say which one they come from; those of topics, and what was sent straight to this one, do
  // not.
  const [only, another] = [...sources.queues, ...sources.subscriptions];
  const fallback = target === null && only !== undefined && another === undefined ? { fallback: only } : {};
  const move = { taskId: crypto.randomUUID(), target, ratePerSecond: null, ...fallback };
  const reply = await directory.queue(name).startMove(name, move);
  if (reply.ok) return reply.task;
  throw new AdminError(409, "move_active", `Messages of "${name}" are being moved already.`);
}

/**
 * Ends the move that is under way. Messages that have left the queue stay where they went. Throws `AdminError` when there is none.
 */
export async function cancelRedrive(directory: QueueDirectory, name: string): Promise<MoveTask> {
  const queue = directory.queue(name);
  const active = (await queue.listMoves(name)).find(({ status }) => status === "running");
  const reply = active === undefined ? null : await queue.cancelMove(name, active.taskId);
  if (reply?.ok === true) return reply.task;
  throw new AdminError(409, "no_move", `No messages of "${name}" are being moved.`);
}

function targetIn(text: string): string | null {
  let json: unknown;
  try {
    json = text === "" ? {} : JSON.parse(text);
  } catch {
    throw new AdminError(400, "invalid_body", BODY_TEXT);
  }
  const read = body.safeParse(json);
  if (!read.success) throw new AdminError(400, "invalid_body", BODY_TEXT);
  return read.data.to ?? null;
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

import { setTimeout as sleep } from "node:timers/promises";
import type { MoveView } from "@sluice/gateway/views";
import { CliError, EXIT_NOT_FOUND } from "@sluice/project/errors";
import { plural } from "@sluice/protocol/words";
import { missingOf, wholeIdsOf } from "../../client/messages.ts";
import { cancelMove, type MoveRequest, planMove, queueNamed, startMove } from "../../client/queues.ts";
import { progressBar } from "../../progress.ts";
import { messageTable } from "../messages/look.ts";
import { answer, type OnBroker } from "../on-broker.ts";

/** Time between two requests for the progress, in ms. */
const LOOK_EVERY_MS = 300;

export interface RedriveOptions {
  /** Queue that takes the messages. Default: those that they came from. */
  readonly to?: string;
  readonly filter?: string;
  readonly id?: readonly string[];
  readonly limit?: number;
  /** Show the messages that would move, and move none. */
  readonly dryRun?: boolean;
  /** Whether to wait for the end. Default: true. */
  readonly wait: boolean;
  /** End the move that is under way, and begin none. */
  readonly cancel?: boolean;
}

/** `sluice queues redrive`: moves the messages of a dead-letter queue, or some of them. */
export async function redrive(on: OnBroker, name: string, options: RedriveOptions): Promise<number> {
  if (options.cancel === true) {
    const move = await cancelMove(on.client, name);
    answer(on, move, { words: `Ended the move. ${movedText(move)}` });
    return 0;
  }
  const ids = await wholeIdsOf(on.client, name, options.id ?? []);
  const request = requestOf(options, ids);
  if (options.dryRun === true) {
    const plan = await planMove(on.client, name, request);
    const words = `${plural(plan.count, "message")} would move to ${targetOf(options.to, plan.count)}.`;
    if (!on.json && plan.messages.length > 0) {
      const { now } = await queueNamed(on.client, name);
      on.printer.print(messageTable(plan.messages, now, on.printer));
    }
    answer(on, plan, { words });
    return 0;
  }
  const begun = await startMove(on.client, name, request);
  if (!options.wait) {
    answer(on, begun, { words: `Moving the messages of ${name} to ${targetOf(begun.to)}.` });
    return 0;
  }
  const move = await ended(on, name, begun);
  if (move.status === "failed") {
    if (on.json) on.printer.print(JSON.stringify(move, null, 2));
    const why = move.failure === null ? "" : `: ${MOVE_FAILURES[move.failure]}`;
    throw new CliError(`The move has failed${why}. ${movedText(move)}`);
  }
  answer(on, move, { words: movedText(move) });
  // A move that was ended, or replaced by a later one, says nothing about the ids.
  if (options.filter !== undefined || move.status !== "completed") return 0;
  const missing = missingOf(ids, options.limit, move.moved + move.stayed);
  if (missing === 0) return 0;
  on.printer.warn(
    `Of the ids ${missing} ${missing === 1 ? "was" : "were"} not moved: not in ${name}, or being delivered.`,
  );
  return EXIT_NOT_FOUND;
}

function requestOf({ to, filter, limit }: RedriveOptions, ids: readonly string[]): MoveRequest {
  return {
    ...(to === undefined ? {} : { to }),
    ...(filter === undefined ? {} : { filter }),
    ...(ids.length === 0 ? {} : { ids }),
    ...(limit === undefined ? {} : { limit }),
  };
}

/** Reasons for which a move has failed, in words. */
export const MOVE_FAILURES: Readonly<Record<NonNullable<MoveView["failure"]>, string>> = {
  targetNotFound: "a queue that messages go to does not exist",
  sourceUnknown: "a message does not say which queue it comes from, so name one with --to",
  notAllowed: "the token may not send to the queues that messages came from, so they stay",
  tookTooLong: "it took too long",
};

/** Waits for the end of a move. The broker keeps only the latest move, so a later one ends the wait too. */
async function ended({ client, surroundings }: OnBroker, name: string, begun: MoveView): Promise<MoveView> {
  const bar = progressBar(surroundings, "messages");
  let move = begun;
  try {
    while (move.status === "running") {
      bar.update(move.moved, move.toMove);
      await sleep(LOOK_EVERY_MS);
      const { lastMove } = await queueNamed(client, name);
      if (lastMove === null || lastMove.startedAt !== begun.startedAt) break;
      move = lastMove;
    }
    return move;
  } finally {
    bar.stop();
  }
}

function movedText(move: MoveView): string {
  const stay = move.stayed === 0 ? "" : ` ${plural(move.stayed, "message")} had to stay.`;
  return `Moved ${plural(move.moved, "message")} to ${targetOf(move.to, move.moved)}.${stay}`;
}

/** Names the target of a move of some messages. Their number defaults to several. */
export function targetOf(to: string | null | undefined, messages?: number): string {
  return to ?? (messages === 1 ? "where it came from" : "where they came from");
}

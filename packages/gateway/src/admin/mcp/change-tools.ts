import { CLOCK_ADVANCE_MS_MAX } from "@sluice/protocol";
import * as z from "zod/mini";
import { FAULT_SETTING } from "../development/fault-routes.ts";
import { sendBody } from "../messages/read-body.ts";
import { SELECTION } from "../messages/selection.ts";
import { messageAnswers } from "../openapi/message-answers.ts";
import { brokerAnswers, queueAnswers } from "../openapi/queue-answers.ts";
import type { MessageView } from "../views.ts";
import { changes, filterInput, idInput, queueInput, queuePath, type Tool, tool } from "./tool.ts";

/** Input that selects many messages, as the admin API does. */
const selection = () => ({ ...SELECTION, filter: z.optional(filterInput()) });

/** Makes the tools that change something. The admin API decides whether the caller may. */
export function changeTools(): Tool[] {
  const answers = messageAnswers();
  const { move } = queueAnswers(answers);
  const { clock } = brokerAnswers();
  const { faults } = answers;
  const message = z.pick(answers.message, {
    id: true,
    state: true,
    attempts: true,
    sentAt: true,
    from: true,
    text: true,
    truncated: true,
    lastError: true,
  });
  const progress = {
    dryRun: z.boolean().check(z.describe("Whether nothing was done.")),
    count: z.number().check(z.describe("Messages that it was, or would be, done to.")),
    cursor: z
      .nullable(z.string())
      .check(z.describe("Not null: there may be more; the same call with it goes on.")),
    messages: z.array(message).check(z.describe("Of a dry run, the first of them.")),
  };
  const counted = z.object(progress);
  type Counted = z.output<typeof counted>;
  const done = (count: number, cursor: string | null = null): Counted => ({
    dryRun: false,
    count,
    cursor,
    messages: [],
  });
  return [
    tool({
      name: "send",
      title: "Send a message",
      description: "Sends a message to a queue. Its consumer gets it like any other.",
      hints: changes({ destructiveHint: false }),
      input: z.extend(z.omit(sendBody, { text: true }), { queue: queueInput(), body: z.unknown() }),
      output: z.object({ queue: z.string(), id: z.string() }),
      run: ({ queue, ...body }, { ask }) => ask({ method: "POST", path: queuePath(queue, "messages"), body }),
    }),
    tool({
      name: "retry",
      title: "Retry messages",
      description:
        "Lets messages be delivered now. By id it ends the delay or the lease of one; by ids or filter the delays of many.",
      hints: changes({ destructiveHint: false, idempotentHint: true }),
      input: z.strictObject({ queue: queueInput(), id: z.optional(idInput()), ...selection() }).check(
        z.refine(({ id, ids, filter }) => (id === undefined) !== ((ids ?? filter) === undefined), {
          message: "needs one of id, and ids or filter",
        }),
        z.refine(({ id, limit, cursor }) => id === undefined || (limit ?? cursor) === undefined, {
          message: "takes limit and cursor with ids or filter only",
        }),
      ),
      output: counted,
      run: async ({ queue, id, ...body }, { ask }) => {
        const path = queuePath(queue, "messages");
        if (id === undefined) {
          const answer = await ask<Counted & { due?: number }>({
            method: "POST",
            path: `${path}/retry`,
            body,
          });
          return answer.due === undefined ? answer : done(answer.due, answer.cursor);
        }
        if (body.dryRun === true) return tried(await ask({ path: queuePath(queue, "messages", id) }));
        await ask({ method: "POST", path: queuePath(queue, "messages", id, "retry") });
        return done(1);
      },
    }),
    tool({
      name: "redrive",
      title: "Redrive dead letters",
      description:
        "Moves what waits in a dead-letter queue back to the queues that it came from, or to another. Moves nothing unless " +
        "dryRun is false: look at the dry run first.",
      hints: changes({ destructiveHint: false }),
      input: z.strictObject({
        queue: queueInput(),
        to: z.optional(z.string().check(z.describe("Default: back to where each came from."))),
        ...selection(),
        dryRun: z._default(z.boolean(), true),
      }),
      output: z.object({ ...progress, move: z.nullable(move.shape.move) }),
      run: async ({ queue, ...body }, { ask }) => {
        const answer = await ask<Counted | z.output<typeof move>>({
          method: "POST",
          path: queuePath(queue, "redrive"),
          body,
        });
        if (!("move" in answer)) return { ...answer, move: null };
        return { ...done(answer.move.toMove), move: answer.move };
      },
    }),
    tool({
      name: "delete_or_purge",
      title: "Delete messages",
      description:
        "Deletes messages, leased or not: one by id, many by ids or filter, all of a queue with all. Deletes nothing unless " +
        "dryRun is false: look at the dry run first.",
      hints: changes({ idempotentHint: true, openWorldHint: false }),
      input: z
        .strictObject({
          queue: queueInput(),
          id: z.optional(idInput()),
          all: z.optional(z.literal(true).check(z.describe("Purges the queue: finished messages go too."))),
          ...selection(),
          dryRun: z._default(z.boolean(), true),
        })
        .check(
          z.refine(
            ({ id, all, ids, filter }) =>
              [id, all, ids ?? filter].filter((named) => named !== undefined).length === 1,
            { message: "needs one of id, ids or filter, and all" },
          ),
          z.refine(({ ids, filter, limit }) => limit === undefined || (ids ?? filter) !== undefined, {
            message: 'takes limit with ids or filter only: the filter "" is everything',
          }),
          z.refine(
            ({ id, all, cursor, dryRun }) => cursor === undefined || (id === undefined && (dryRun || !all)),
            {
              message: "takes no cursor with id, and with all only in a dry run: a purge deletes everything",
            },
          ),
        ),
      output: counted,
      run: async ({ queue, id, all, dryRun, ...selected }, { ask }) => {
        const path = queuePath(queue, "messages");
        if (id !== undefined) {
          const one = queuePath(queue, "messages", id);
          if (dryRun) return tried(await ask({ path: one }));
          await ask({ method: "DELETE", path: one });
          return done(1);
        }
        if (all === true && !dryRun) {
          return done(
            (await ask<{ purged: number }>({ method: "POST", path: queuePath(queue, "purge") })).purged,
          );
        }
        const body = { ...(all === true ? { filter: "", cursor: selected.cursor } : selected), dryRun };
        const answer = await ask<Counted & { deleted?: number }>({
          method: "POST",
          path: `${path}/delete`,
          body,
        });
        return answer.deleted === undefined ? answer : done(answer.deleted, answer.cursor);
      },
    }),
    tool({
      name: "clock",
      title: "See and move the clock",
      description:
        "Shows the time of the queues, or moves it forward, in development: so a retry in hours is tried at once. Time " +
        "never goes back, and a message whose retention ends is deleted. Without an argument it shows.",
      hints: changes(),
      input: z
        .strictObject({
          advanceMs: z.optional(z.int().check(z.gte(0), z.lte(CLOCK_ADVANCE_MS_MAX))),
          toNext: z.optional(z.literal(true).check(z.describe("Jumps to what comes next in any queue."))),
          queue: z.optional(z.string().check(z.describe("With toNext: in this queue."))),
          expire: z.optional(
            z.boolean().check(z.describe("With toNext: also where that deletes messages. Default: refused.")),
          ),
          freeze: z.optional(z.boolean().check(z.describe("Stops the clock, or lets it go on."))),
        })
        .check(
          z.refine(
            ({ advanceMs, toNext, queue, expire, freeze }) =>
              [advanceMs, toNext, freeze].filter((given) => given !== undefined).length <= 1 &&
              ((queue ?? expire) === undefined || toNext === true),
            { message: "takes one of advanceMs, toNext and freeze; queue and expire go with toNext" },
          ),
        ),
      output: clock,
      run: async ({ advanceMs, toNext, queue, expire, freeze }, { ask }) => {
        if (advanceMs !== undefined) return ask({ method: "POST", path: "/clock", body: { advanceMs } });
        if (freeze !== undefined) return ask({ method: "POST", path: "/clock", body: { freeze } });
        if (toNext === undefined) return ask({ path: "/clock" });
        return ask({ method: "POST", path: "/clock", body: { to: "next", queue, expire } });
      },
    }),
    tool({
      name: "faults",
      title: "See and set faults",
      description:
        "Shows what is made to go wrong with the next deliveries of a queue, or sets it, in development. An empty list " +
        "ends all faults; without a list it shows.",
      hints: changes({ idempotentHint: true }),
      input: z.strictObject({
        queue: queueInput(),
        faults: z.optional(FAULT_SETTING.shape.faults),
        seed: z.optional(z.int()),
      }),
      output: faults,
      run: ({ queue, faults: wanted, seed }, { ask }) => {
        const path = queuePath(queue, "faults");
        if (wanted === undefined) return ask({ path });
        return ask({
          method: "PUT",
          path,
          body: { faults: wanted, ...(seed === undefined ? {} : { seed }) },
        });
      },
    }),
  ];
}

/** Makes the answer of a dry run on one message. */
function tried(one: MessageView) {
  return { dryRun: true, count: one.end === undefined ? 1 : 0, cursor: null, messages: [one] };
}

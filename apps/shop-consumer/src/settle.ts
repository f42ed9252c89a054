import type { HistoryEntry, OrderHistory } from "./history.ts";
import { type Order, readOrder } from "./order.ts";
import { chargeCard, RETRIES_MAX } from "./payment.ts";
import type { OrderReport } from "./report.ts";

/** Report on a delivery, with the answer to the queue once the report is stored. */
interface Settlement {
  readonly entry: HistoryEntry;
  /** Acknowledges the message or asks for its retry. */
  readonly answer: () => void;
}

/**
 * Charges the orders of a batch; a failed attempt is reported and its message retried.
 *
 * Decides about each message, stores the decisions of one customer in one call, and answers the queue only after that.
 * A crash in between delivers the messages again, which is harmless; in the other order reports would be lost. A failure
 * for one customer does not affect the others of the batch.
 *
 * @throws the error of a refused order, after every other message is answered: the queue then retries the refused one
 * by its own settings, and keeps the error with it.
 */
export async function settleOrders(
  batch: MessageBatch,
  histories: DurableObjectNamespace<OrderHistory>,
): Promise<void> {
  const refused: Error[] = [];
  const byCustomer = new Map<string, { message: Message; settlement: Settlement }[]>();
  for (const message of batch.messages) {
    const order = readOrder(message.body);
    if (order === null) {
      console.error(`Message ${message.id} in "${batch.queue}" is not an order`);
      // Retried until it is a dead letter, which can be looked at.
      message.retry();
      continue;
    }
    const settlements = byCustomer.get(order.customer) ?? [];
    settlements.push({ message, settlement: attemptCharge(order, message, refused) });
    byCustomer.set(order.customer, settlements);
  }
  await Promise.all(
    Array.from(byCustomer, async ([customer, settlements]) => {
      try {
        await histories.getByName(customer).record(settlements.map(({ settlement }) => settlement.entry));
      } catch (error) {
        console.error(`The history of ${customer} could not be written:`, error);
        for (const { message } of settlements) message.retry();
        return;
      }
      for (const { settlement } of settlements) settlement.answer();
    }),
  );
  const [error] = refused;
  if (error !== undefined) throw error;
}

function attemptCharge(order: Order, message: Message, refused: Error[]): Settlement {
  const { id, bulk } = order;
  const { attempts } = message;
  const charge = chargeCard(order, attempts);
  switch (charge.kind) {
    case "charged":
      return {
        entry: { bulk, report: { state: "charged", id, attempts, cents: charge.cents } },
        answer: () => message.ack(),
      };
    case "interrupted": {
      const { reason, retryInSeconds } = charge;
      const nextAttemptAt = Date.now() + retryInSeconds * 1000;
      return {
        entry: { bulk, report: failed({ id, attempts, reason }, nextAttemptAt) },
        answer: () => {
          // Printed right before, it is the reason that the queue keeps. A bulk run would fill the terminal.
          if (bulk === null) console.error(reason);
          message.retry({ delaySeconds: retryInSeconds });
        },
      };
    }
    case "refused": {
      const { error } = charge;
      const entry = { bulk, report: failed({ id, attempts, reason: error.message }, null) };
      // A bulk run has refused orders in each batch: their stacks would fill the terminal.
      if (bulk !== null) return { entry, answer: () => message.retry() };
      return { entry, answer: () => refused.push(error) };
    }
  }
}

/** Makes the report on a failed attempt; the last one leads to the dead-letter queue. */
function failed(
  attempt: { readonly id: string; readonly attempts: number; readonly reason: string },
  nextAttemptAt: number | null,
): OrderReport {
  if (attempt.attempts > RETRIES_MAX) return { state: "dead", ...attempt };
  return { state: "retrying", ...attempt, nextAttemptAt };
}

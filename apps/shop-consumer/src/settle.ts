import type { HistoryEntry, OrderHistory } from "./history.ts";
import { type Order, readOrder } from "./order.ts";
import { chargeCard } from "./payment.ts";

/** Report on a delivery, with the answer to the queue once the report is stored. */
interface Settlement {
  readonly entry: HistoryEntry;
  /** Acknowledges the message or asks for its retry. */
  readonly answer: () => void;
}

/** Charges the orders of a batch; a failed attempt is reported and its message retried. */
export async function settleOrders(batch: MessageBatch, histories: DurableObjectNamespace<OrderHistory>) {
  await settle(batch, histories, attemptCharge, (message) => {
    console.error(`Message ${message.id} in "${batch.queue}" is not an order`);
    // Retried until it is a dead letter, which can be looked at.
    message.retry();
  });
}

/** Reports the orders that ran out of retries. */
export async function settleDeadLetters(
  batch: MessageBatch,
  histories: DurableObjectNamespace<OrderHistory>,
) {
  await settle(batch, histories, giveUp, (message) => {
    console.error(`Message ${message.id} in "${batch.queue}" is not an order:`, message.body);
    message.ack();
  });
}

/**
 * Decides about each message of a batch, stores the decisions of one customer in one call, and answers the queue only
 * after that. A crash in between delivers the messages again, which is harmless; in the other order reports would be
 * lost. A failure for one customer does not affect the others of the batch.
 */
async function settle(
  batch: MessageBatch,
  histories: DurableObjectNamespace<OrderHistory>,
  decide: (order: Order, message: Message) => Settlement,
  refuse: (message: Message) => void,
): Promise<void> {
  const byCustomer = new Map<string, { message: Message; settlement: Settlement }[]>();
  for (const message of batch.messages) {
    const order = readOrder(message.body);
    if (order === null) {
      refuse(message);
      continue;
    }
    const settlements = byCustomer.get(order.customer) ?? [];
    settlements.push({ message, settlement: decide(order, message) });
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
}

function attemptCharge(order: Order, message: Message): Settlement {
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
        entry: { bulk, report: { state: "retrying", id, attempts, reason, nextAttemptAt } },
        answer: () => message.retry({ delaySeconds: retryInSeconds }),
      };
    }
    case "refused":
      return {
        entry: {
          bulk,
          report: { state: "retrying", id, attempts, reason: charge.reason, nextAttemptAt: null },
        },
        answer: () => message.retry(),
      };
  }
}

function giveUp(order: Order, message: Message): Settlement {
  return {
    entry: { bulk: order.bulk, report: { state: "dead", id: order.id, attempts: 0, reason: null } },
    answer: () => message.ack(),
  };
}

import { failedText, isFailing, plural } from "@sluice/protocol/words";
import type { BacklogView, HealthView, QueueView } from "../api/call.ts";
import { ago, ahead } from "./format.ts";

/** State of deliveries, in a word and a line. The tone is a colour; the word says the same without it. */
export interface DeliveryState {
  readonly tone: "quiet" | "good" | "busy" | "warn" | "bad";
  readonly word: string;
  /** Further text about the state; empty for none. */
  readonly detail: string;
}

/** State of a queue: the one thing about it that a reader should know first. */
export function stateOfQueue(queue: QueueView): DeliveryState {
  const { ready, delayed } = queue.messages;
  const waiting = ready + delayed;
  if (queue.settings.deliveryPaused) {
    const detail = `${plural(waiting, "message")} ${waiting === 1 ? "waits" : "wait"}`;
    return { tone: "warn", word: "Paused", detail: waiting > 0 ? detail : "" };
  }
  if (queue.health !== null) return stateOfDelivery(queue);
  if (queue.consumer?.type === "http_pull") return { tone: "quiet", word: "Pulled", detail: "" };
  if (queue.consumer?.type === "worker") {
    return { tone: "bad", word: "Not bound", detail: "this broker was not started with that Worker" };
  }
  if (waiting > 0 && queue.deadLettersOf.queues.length + queue.deadLettersOf.subscriptions.length > 0) {
    return { tone: "bad", word: "Dead letters", detail: "look why, then redrive" };
  }
  // Clients of SQS receive without being a consumer; messages of a binding need one.
  const isForgotten = queue.producers.length > 0 && waiting > 0;
  return isForgotten
    ? { tone: "warn", word: "No consumer", detail: "messages wait" }
    : { tone: "quiet", word: "–", detail: "" };
}

/** State of the deliveries to a consumer or an endpoint. */
export function stateOfDelivery({
  health,
  now,
  messages,
}: Pick<BacklogView, "health" | "now" | "messages">): DeliveryState {
  if (health === null) return { tone: "quiet", word: "–", detail: "" };
  const { present, consecutiveFailures, inFlight, lastDelivery, next } = health;
  const detail = next === null ? "" : nextText(next, now);
  if (!present) return { tone: "bad", word: "Away", detail };
  if (isFailing(consecutiveFailures, messages)) {
    const row = consecutiveFailures === 1 ? "" : `${consecutiveFailures.toLocaleString("en")} in a row`;
    const then = inFlight > 0 ? `${inFlight} under way` : detail;
    const why = lastDelivery?.failure ?? "";
    const facts = [row, then].filter(Boolean).join(", ");
    return { tone: "warn", word: "Failing", detail: [facts, why].filter(Boolean).join(": ") };
  }
  if (inFlight > 0) return { tone: "busy", word: "Delivering", detail: `${inFlight} under way` };
  if (next?.waitsFor === "slot") return { tone: "busy", word: "At its rate", detail };
  if (lastDelivery === null) {
    return messages.ready > 0
      ? { tone: "busy", word: "Waiting", detail }
      : { tone: "quiet", word: "Idle", detail: detail || "no delivery known" };
  }
  const partly = partlyText(lastDelivery);
  if (consecutiveFailures === 0 && partly === "") return { tone: "good", word: "OK", detail };
  if (messages.ready + messages.delayed + messages.leased === 0) {
    const when = ago(lastDelivery.endedAt, now);
    const last =
      consecutiveFailures === 0
        ? `${partly} ${when}`
        : failedText(consecutiveFailures, when, lastDelivery.failure);
    return { tone: "quiet", word: "Idle", detail: last };
  }
  return { tone: "warn", word: "Retrying", detail: [partly, detail].filter(Boolean).join(", ") };
}

/** Tells how many messages a delivery acknowledged, `0 of 2 acknowledged`; empty if those were all. */
export function partlyText({ acked, messages }: NonNullable<HealthView["lastDelivery"]>): string {
  if (acked === null || messages === null || acked === messages) return "";
  return `${acked.toLocaleString("en")} of ${messages.toLocaleString("en")} acknowledged`;
}

/** Puts into words what a queue waits for. */
export function nextText({ waitsFor, at }: NonNullable<HealthView["next"]>, now: string): string {
  const when = ahead(at, now);
  switch (waitsFor) {
    case "return":
      return `asked again ${when}`;
    case "slot":
      return `next slot ${when}`;
    case "due":
      return `next delivery ${when}`;
  }
}

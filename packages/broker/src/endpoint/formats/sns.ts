import type { ClientErrorRule } from "@sluice/protocol";
import { CONTENT_TYPE_DEFAULT, contentTypeToSend } from "@sluice/retry";
import { classOfStatus, deliveryHeaders, notificationOf } from "@sluice/sns";
import type { EndpointFormat, EndpointOutcome, Verdict } from "../endpoint.ts";

/**
 * Format of a topic's messages to a subscribed endpoint (spec sns-delivery 6, 8.1). An absent endpoint has failed like
 * one that answers 503: SNS makes no probes, and its policy alone sets the time of the next attempt.
 */
export const snsFormat: EndpointFormat = {
  headers({ id, extension }, settings) {
    const notification = notificationOf(extension.attributes);
    const isRaw = notification?.isRaw ?? true;
    // The policy may have changed since the message was published, raw or not.
    const contentType = contentTypeToSend(settings.contentType ?? CONTENT_TYPE_DEFAULT, isRaw);
    return deliveryHeaders(notification, id, contentType);
  },

  judge(outcome: EndpointOutcome, _message, _nowMs, { clientErrors = "deadLetter" }): Verdict {
    if (outcome.kind !== "answered") return { kind: "retry", delaySeconds: null, reason: outcome.reason };
    const reason = `it answered ${outcome.status}`;
    switch (classOfStatus(outcome.status)) {
      case "ok":
        return { kind: "done" };
      case "transient":
        return { kind: "retry", delaySeconds: null, reason };
      case "permanent":
        return verdictOnClientError(clientErrors, reason);
    }
  },
};

function verdictOnClientError(rule: ClientErrorRule, reason: string): Verdict {
  switch (rule) {
    case "deadLetter":
      return { kind: "dead", reason: `${reason}, which no other attempt would change` };
    case "retry":
      return { kind: "retry", delaySeconds: null, reason };
    case "delivered":
      return { kind: "done", note: `${reason}, which is set to count as delivered` };
  }
}

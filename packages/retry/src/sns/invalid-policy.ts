/**
 * A delivery policy that SNS refuses, with code `InvalidParameter` and status 400. The message is the reason, which starts
 * with the attribute's name; `invalidParameterMessage` puts it into the words of an action.
 */
export class InvalidDeliveryPolicy extends Error {
  override readonly name = "InvalidDeliveryPolicy";

  constructor(reason: string) {
    super(`DeliveryPolicy: ${reason}`);
  }
}

/** The actions that take a delivery policy. */
export type PolicyAction = "Subscribe" | "CreateTopic" | "SetSubscriptionAttributes" | "SetTopicAttributes";

/** The whole message of the error that an action answers with (spec sns-delivery 2.5). */
export function invalidParameterMessage(action: PolicyAction, error: InvalidDeliveryPolicy): string {
  const creates = action === "Subscribe" || action === "CreateTopic";
  return `Invalid parameter: ${creates ? "Attributes Reason: " : ""}${error.message}`;
}

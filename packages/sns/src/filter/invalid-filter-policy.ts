/**
 * A filter policy that SNS refuses, with code `InvalidParameter` and status 400. The message is what follows the prefix of
 * the action: `Invalid parameter: Attributes Reason: ` of Subscribe, `Invalid parameter: ` of SetSubscriptionAttributes.
 */
export class InvalidFilterPolicy extends Error {
  override readonly name = "InvalidFilterPolicy";
}

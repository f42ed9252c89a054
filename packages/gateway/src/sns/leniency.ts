import type { SnsSettings } from "@sluice/protocol";
import type { RetryLeniency } from "@sluice/retry";

/** What a delivery policy need not comply with where messages are set to live longer than on AWS. */
export function leniencyOf({ messageLifeSeconds }: SnsSettings): RetryLeniency {
  return messageLifeSeconds === undefined ? {} : { totalSecondsMax: messageLifeSeconds };
}

import type { TopicRecord } from "@sluice/protocol";
import type { SignatureVersion } from "@sluice/sns";

/** How messages of a topic are signed: version 1 unless the topic says otherwise (spec sns-delivery 8.3). */
export function signatureVersionOf({ attributes }: TopicRecord): SignatureVersion {
  return attributes.SignatureVersion === "2" ? "2" : "1";
}

import { SQSServiceException } from "@aws-sdk/client-sqs";
import { describe, expect, it } from "vitest";
import { callSqs } from "./client.ts";

const refused = (name: string, message = "no.") =>
  new SQSServiceException({ name, message, $fault: "client", $metadata: {} });
const named = (name: string, message: string) => Object.assign(new Error(message), { name });

describe("a refusal of AWS", () => {
  it.each([
    [refused("QueueDoesNotExist"), "There is no such queue in SQS."],
    [
      refused("InvalidClientTokenId", "The token is invalid."),
      "AWS does not accept the credentials: The token is invalid.",
    ],
    [refused("ExpiredToken", "It has expired."), "AWS does not accept the credentials: It has expired."],
    [
      refused("AccessDenied", "User x is not authorized."),
      "AWS refuses it: User x is not authorized. The credentials need these actions of SQS: GetQueueUrl, GetQueueAttributes, ListQueueTags, ReceiveMessage, DeleteMessage.",
    ],
    [refused("OverLimit", "Too many."), "SQS refuses it: Too many. (OverLimit)"],
    [
      named("CredentialsProviderError", "Could not load credentials"),
      "There are no credentials for AWS: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
    ],
    [named("Error", "Region is missing"), "Set AWS_REGION to the region of the queue."],
    [named("TimeoutError", "socket hang up"), "SQS does not answer: socket hang up"],
  ])("%s is one sentence", async (error, sentence) => {
    await expect(callSqs("source", () => Promise.reject(error))).rejects.toMatchObject({
      name: "CliError",
      message: sentence,
    });
  });
});

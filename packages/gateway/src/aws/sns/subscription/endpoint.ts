import { isFifoName, TOPIC_PROTOCOLS, type TopicProtocol } from "@sluice/protocol";
import { addressOfArn, directoryName, type Home } from "../../queue-address.ts";
import { invalid, refuse, SNS_ERRORS } from "../errors.ts";

/** Protocols of SNS that this broker delivers nothing over. */
const OTHER_PROTOCOLS = ["email", "email-json", "sms", "application", "lambda", "firehose"];

/** Endpoint of a subscription. */
export interface Endpoint {
  readonly protocol: TopicProtocol;
  readonly endpoint: string;
  /** The queue of an `sqs` subscription, by its name in the directory; `null` for a URL. */
  readonly queue: string | null;
}

/** Reads protocol and endpoint of a request (spec sns-delivery 9.4, 9.6). Throws `AwsError` in SNS's words. */
export function endpointIn(
  protocolText: string,
  endpoint: string | undefined,
  isFifoTopic: boolean,
  home: Home,
): Endpoint {
  const protocol = TOPIC_PROTOCOLS.find((known) => known === protocolText);
  if (protocol === undefined && OTHER_PROTOCOLS.includes(protocolText)) {
    throw invalid(`Protocol Reason: this broker delivers over http, https and sqs, not over ${protocolText}`);
  }
  if (protocol === undefined) {
    throw invalid(`Amazon SNS does not support this protocol string: ${protocolText}`);
  }
  if (endpoint === undefined || endpoint === "") {
    throw refuse(SNS_ERRORS.notFound, "Endpoint not specified in subscription");
  }
  if (protocol !== "sqs") return { protocol, endpoint: urlIn(endpoint, protocol, isFifoTopic), queue: null };
  const address = addressOfArn(endpoint);
  if (address === null) throw invalid("SQS endpoint ARN");
  if (!isFifoTopic && isFifoName(address.name)) {
    throw invalid(
      "Invalid parameter: Endpoint Reason: FIFO SQS Queues can not be subscribed to standard SNS topics",
    );
  }
  return { protocol, endpoint, queue: directoryName(address, home) };
}

function urlIn(endpoint: string, protocol: "http" | "https", isFifoTopic: boolean): string {
  if (isFifoTopic) throw invalid("Protocol Reason: FIFO topics deliver to SQS queues only");
  if (!endpoint.startsWith(`${protocol}://`)) throw invalid("Endpoint must match the specified protocol");
  if (!URL.canParse(endpoint)) throw invalid("Endpoint");
  return endpoint;
}

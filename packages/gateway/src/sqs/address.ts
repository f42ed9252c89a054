import { formatArn, parseArn, partitionOf } from "@sluice/aws";
import { refuse, SQS_ERRORS } from "./errors.ts";

/** The account and region in which a queue of SQS is known by the name that it has everywhere else. */
export interface Home {
  readonly account: string;
  readonly region: string;
}

/** Account of who brings no other one: emulators have agreed on it. */
export const ACCOUNT_DEFAULT = "000000000000";
export const REGION_DEFAULT = "us-east-1";

/** Where a queue of SQS is. Regions and accounts are apart: one name in two of them is two queues (spec sqs 1.4). */
export interface QueueAddress {
  readonly region: string;
  readonly account: string;
  /** As SQS has it, `.fifo` included. */
  readonly name: string;
}

/** Names of SQS: 1 to 80 letters, digits, hyphens and underscores; FIFO queues end in `.fifo`, which counts. */
export const QUEUE_NAME_LENGTH_MAX = 80;
const QUEUE_NAME = /^[A-Za-z0-9_-]+(\.fifo)?$/;

export function isQueueName(name: string): boolean {
  return name.length <= QUEUE_NAME_LENGTH_MAX && QUEUE_NAME.test(name);
}

/**
 * The name of a queue in the directory. In the home account and region it is SQS's own name, so that one queue serves all
 * dialects; elsewhere it is the ARN, which is no name of any other dialect.
 */
export function directoryName(address: QueueAddress, home: Home): string {
  const { region, account, name } = address;
  return region === home.region && account === home.account ? name : arnOf(address);
}

/** Where the queue of a directory name is. */
export function addressOf(directoryName: string, home: Home): QueueAddress {
  const arn = directoryName.startsWith("arn:") ? parseArn(directoryName) : null;
  if (arn === null) return { ...home, name: directoryName };
  return { region: arn.region, account: arn.account, name: arn.resource };
}

export function arnOf({ region, account, name }: QueueAddress): string {
  return formatArn({ partition: partitionOf(region), service: "sqs", region, account, resource: name });
}

/** The queue of an ARN; `null` for what is no ARN of SQS. */
export function addressOfArn(text: string): QueueAddress | null {
  const arn = parseArn(text);
  if (arn === null || arn.service !== "sqs") return null;
  return { region: arn.region, account: arn.account, name: arn.resource };
}

/** The URL of a queue, under the address that the request came to: `http://host/prefix/ACCOUNT/NAME`. */
export function queueUrl(endpoint: string, { region, account, name }: QueueAddress, home: Home): string {
  return region === home.region
    ? `${endpoint}/${account}/${name}`
    : `${endpoint}/queue/${region}/${account}/${name}`;
}

/**
 * The queue that a `QueueUrl` or the path of a request names: `…/ACCOUNT/NAME`, `…/queue/REGION/ACCOUNT/NAME`, AWS's own
 * URLs, or a name alone (spec sqs 1.4). What a URL does not say is the caller's.
 *
 * @throws AwsError `InvalidAddress` for what names none.
 */
export function parseQueueUrl(text: string, caller: Home): QueueAddress {
  const isUrl = /^https?:\/\//i.test(text);
  const host = isUrl ? (/^https?:\/\/([^/:]+)/i.exec(text)?.[1] ?? "") : "";
  const parts = (isUrl ? text.replace(/^https?:\/\/[^/]*/i, "") : text).split(/[?#]/)[0]?.split("/");
  const segments = (parts ?? []).filter((part) => part !== "");
  const name = segments.at(-1);
  if (name === undefined) {
    throw refuse(SQS_ERRORS.invalidAddress, `The address ${text} is not valid for this endpoint.`);
  }
  const account = segments.at(-2);
  const isAccount = account !== undefined && /^\d{12}$/.test(account);
  const regionOfPath = isAccount && segments.at(-4) === "queue" ? segments.at(-3) : undefined;
  const region = regionOfPath ?? regionOfHost(host) ?? caller.region;
  return { region, account: isAccount ? account : caller.account, name };
}

/** Regions of AWS's own hosts: `sqs.REGION.amazonaws.com`, `REGION.queue.amazonaws.com`, `queue.amazonaws.com`. */
function regionOfHost(host: string): string | undefined {
  const found = /^(?:sqs\.([a-z0-9-]+)|([a-z0-9-]+)\.queue)\.amazonaws\.com/.exec(host);
  if (found !== null) return found[1] ?? found[2];
  return /^queue\.amazonaws\.com/.test(host) ? "us-east-1" : undefined;
}

import type { Home, QueueAddress } from "../queue-address.ts";
import { refuse, SQS_ERRORS } from "./errors.ts";

const ACCOUNT_LENGTH = 12;

/** Makes the URL of a queue, below the address of the endpoint: `http://host/prefix/ACCOUNT/NAME`. */
export function queueUrl(endpoint: string, { region, account, name }: QueueAddress, home: Home): string {
  return region === home.region
    ? `${endpoint}/${account}/${name}`
    : `${endpoint}/queue/${region}/${account}/${name}`;
}

/**
 * Reads the queue that a `QueueUrl` or the path of a request names: `…/ACCOUNT/NAME`, `…/queue/REGION/ACCOUNT/NAME`,
 * AWS's own URLs, or a name alone (spec sqs 1.4). A missing region or account is the caller's.
 *
 * @throws AwsError `InvalidAddress` for a text that names no queue.
 */
export function parseQueueUrl(text: string, caller: Home): QueueAddress {
  const isUrl = /^https?:\/\//i.test(text);
  const host = isUrl ? (/^https?:\/\/([^/:]+)/i.exec(text)?.[1] ?? "") : "";
  const parts = (isUrl ? text.replace(/^https?:\/\/[^/]*/i, "") : text).split(/[?#]/)[0]?.split("/");
  const segments = (parts ?? []).filter((part) => part !== "");
  const name = segments.at(-1);
  const account = segments.at(-2);
  // A number that is no account's is a mistake: it must not lead to the caller's own queue of that name.
  const isNumber = account !== undefined && /^\d+$/.test(account);
  const isAccount = isNumber && account.length === ACCOUNT_LENGTH;
  if (name === undefined || (isNumber && !isAccount)) {
    throw refuse(SQS_ERRORS.invalidAddress, `The address ${text} is not valid for this endpoint.`);
  }
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

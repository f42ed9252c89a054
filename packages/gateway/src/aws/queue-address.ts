import { formatArn, parseArn, partitionOf } from "@sluice/aws";

/** The account and region whose queues have their own names in all other dialects. */
export interface Home {
  readonly account: string;
  readonly region: string;
}

export const REGION_DEFAULT = "us-east-1";

/** Address of a queue of SQS. Regions and accounts are apart: one name in two of them is two queues (spec sqs 1.4). */
export interface QueueAddress {
  readonly region: string;
  readonly account: string;
  /** As SQS has it, `.fifo` included. */
  readonly name: string;
}

/**
 * Returns the name of a queue in the directory. In the home account and region it is SQS's own name, so that one queue
 * serves all dialects; elsewhere it is the ARN, which is no name of any other dialect.
 */
export function directoryName(address: QueueAddress, home: Home): string {
  const { region, account, name } = address;
  return region === home.region && account === home.account ? name : arnOf(address);
}

/** Returns the address of the queue with a directory name. */
export function addressOf(directoryName: string, home: Home): QueueAddress {
  const arn = directoryName.startsWith("arn:") ? parseArn(directoryName) : null;
  if (arn === null) return { ...home, name: directoryName };
  return { region: arn.region, account: arn.account, name: arn.resource };
}

export function arnOf({ region, account, name }: QueueAddress): string {
  return formatArn({ partition: partitionOf(region), service: "sqs", region, account, resource: name });
}

/** Reads the address of a queue from its ARN; `null` for any other text. */
export function addressOfArn(text: string): QueueAddress | null {
  const arn = parseArn(text);
  if (arn === null || arn.service !== "sqs") return null;
  return { region: arn.region, account: arn.account, name: arn.resource };
}

import type { HeldClock } from "@sluice/broker/held-clock";
import type { InDelivery, QueueTopology } from "@sluice/protocol";
import type { Section } from "../docs/section.ts";

/** Input for opening a broker in this process. */
export interface BrokerInput {
  /** Folder of all Durable Objects. */
  readonly folder: string;
  /** Name of the broker's Worker. */
  readonly worker: string;
  readonly topology: QueueTopology;
  readonly vars: Readonly<Record<string, unknown>>;
  readonly disk: Disk;
  /** Clock that deadlines are measured by. */
  readonly clock: HeldClock;
  /** The page at `/__sluice/` as an archive. */
  readonly page: Uint8Array;
  searchDocs(query: string): Promise<readonly Section[]>;
}

/** Monitor of the free space on the folder's disk (`Reserve`). */
export interface Disk {
  readonly isFull: boolean;
  foundFull(): boolean;
}

/** A broker in this process. Its module is compiled with the types of Workers, this file with those of Node.js. */
export interface Broker {
  /** Whether AWS's clients must sign, so that only a little is read of an unsigned request. */
  readonly asksForSignatures: boolean;
  /** Answers a request, whose signal is aborted when its client goes. */
  fetch(request: Request): Promise<Response>;
  /** Tells the broker whether the disk is full. While it is, each call gives back space that is not needed. */
  room(isFull: boolean): void;
  /** Ends the broker. All that was committed is in its files. */
  close(): void;
}

/** Exports of the broker's module. */
export interface BrokerModule {
  open(input: BrokerInput): Broker;
}

/** Input for the recovery of a data folder. */
interface RecoveryInput {
  /** Folder of all Durable Objects. */
  readonly folder: string;
  /** Name of the broker's Worker. */
  readonly worker: string;
  warn(line: string): void;
}

/** Exports of the recovery module. */
export interface RecoveryModule {
  /** Lists the deliveries under way in a data folder's queues from their files, the longest first. A broker may run. */
  deliveriesIn(input: Pick<RecoveryInput, "folder" | "worker">): readonly InDelivery[];
  /** Lists the folder's queues by name, in order; none if its directory cannot be read. No broker may run. */
  queuesKeptIn(input: Pick<RecoveryInput, "folder" | "worker">): readonly string[];
  /** Repairs a damaged directory, adds queues that it has lost, and warns of what it finds. No broker may run. */
  recoverDirectory(input: RecoveryInput): void;
  /** Shrinks the files of a folder of Durable Objects by space that they do not need. No broker may run. */
  shrinkObjectFiles(folder: string, warn: (line: string) => void): void;
}

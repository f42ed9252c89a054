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
  /** Archive of the dashboard, the page at `/__sluice/`. */
  readonly page: Uint8Array;
  searchDocs(query: string): Promise<readonly Section[]>;
}

/** Free space on the folder's disk, with a reserve. */
export interface Disk {
  readonly isFull: boolean;
  /** Gives up the reserve after a write has found no space. @returns whether there was one. */
  foundFull(): boolean;
}

/** A broker in this process. Its module is compiled with the types of Workers, this file with those of Node.js. */
export interface Broker {
  /** Whether AWS's clients must sign. Of an unsigned request only little is read then. */
  readonly asksForSignatures: boolean;
  /** Answers a request, whose signal is aborted when its client goes. */
  fetch(request: Request): Promise<Response>;
  /** Tells the broker whether the disk is full. If so, the files give back space that they do not need. */
  room(isFull: boolean): void;
  /** Ends the broker. All that was committed is in its files then. */
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
  /** Lists the deliveries under way, the longest first, from the queues' files. A broker may be running on them. */
  deliveriesIn(input: Pick<RecoveryInput, "folder" | "worker">): readonly InDelivery[];
  /** Lists the queues' names, in order; none if the list of queues cannot be read. No broker may be running. */
  queuesKeptIn(input: Pick<RecoveryInput, "folder" | "worker">): readonly string[];
  /** Repairs a damaged list of queues, adds those that it has lost, and warns of both. No broker may be running. */
  recoverDirectory(input: RecoveryInput): void;
  /** Frees space that the files of Durable Objects do not need. No broker may be running. */
  shrinkObjectFiles(folder: string, warn: (line: string) => void): void;
}

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
  /** The time that deadlines go by. */
  readonly clock: HeldClock;
  /** The page at `/__sluice/` as an archive. */
  readonly page: Uint8Array;
  searchDocs(query: string): Promise<readonly Section[]>;
}

/** Monitor of the room on the folder's disk. */
export interface Disk {
  readonly isFull: boolean;
  foundFull(): boolean;
}

/** A broker in this process. Its module is typed by the platform's types, and this by Node.js's. */
export interface Broker {
  /** Whether AWS's clients have to sign, so that little is read of who does not. */
  readonly asksForSignatures: boolean;
  /** Answers a request, whose signal is aborted when its client goes. */
  fetch(request: Request): Promise<Response>;
  /** Whether the disk is full: while it is, each call gives back room that is not needed. */
  room(isFull: boolean): void;
  /** Ends it: what was committed is in its files. */
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
  /**
   * Lists the deliveries under way in a data folder's queues, the longest first, from their files. The broker may run.
   */
  deliveriesIn(input: Pick<RecoveryInput, "folder" | "worker">): readonly InDelivery[];
  /** Before anything runs on the folder: names its queues, in order; none where its directory cannot be read. */
  queuesKeptIn(input: Pick<RecoveryInput, "folder" | "worker">): readonly string[];
  /**
   * Before anything runs on the folder: mends a damaged directory, and takes back queues that it has lost. Says what it
   * finds.
   */
  recoverDirectory(input: RecoveryInput): void;
  /** Before anything runs on the folder of all Durable Objects: gives room back to its disk that no file needs. */
  shrinkObjectFiles(folder: string, warn: (line: string) => void): void;
}

/** When a system says that a message is taken. */
export type Acknowledged = "memory" | "page cache" | "commit";

/** A way to send, and how many messages one run sends. */
export interface Case {
  readonly way: "single" | "concurrent50" | "concurrent500" | "batch100" | "batch100parallel10";
  readonly messages: number;
  readonly title: string;
}

/** What one run measured. Rates are messages a second, latencies milliseconds. */
export interface Measured {
  readonly messages: number;
  readonly sendPerSecond: number;
  readonly handledPerSecond: number;
  readonly callP50Ms: number;
  readonly callP99Ms: number;
  readonly endToEndP50Ms: number;
  readonly endToEndP99Ms: number;
}

/** A queue under test that is running. */
export interface RunningSystem {
  run(testCase: Case): Promise<Measured>;
  stop(): Promise<void>;
}

/** A queue under test. `start` rejects with the reason when it cannot run here; that is reported, not passed over. */
export interface System {
  readonly name: string;
  readonly acknowledged: Acknowledged;
  start(): Promise<RunningSystem>;
}

import { afterEach, beforeEach } from "vitest";
import { type BrokerHarness, folderOfTest, startBroker } from "./harness.ts";

type Options = Omit<Parameters<typeof startBroker>[0], "persistDir">;

/** Brokers of a test, one after the other, on the same files. The first begins without any. */
class BrokersOfTest {
  /** Folder of the files. */
  folder = "";
  #broker: BrokerHarness | undefined;

  /** Stops the one that runs, and starts another one. */
  async start(options: Options): Promise<BrokerHarness> {
    await this.stop();
    this.#broker = await startBroker({ ...options, persistDir: this.folder });
    return this.#broker;
  }

  async stop(): Promise<void> {
    const broker = this.#broker;
    this.#broker = undefined;
    await broker?.stop();
  }

  /** Ends the one that runs with SIGKILL. */
  async kill(): Promise<void> {
    await this.#broker?.kill();
    await this.stop();
  }
}

/** Keeps the brokers of each test of a file, and stops the last. Call it at the top of the file. */
export function brokersOfTest(): BrokersOfTest {
  const brokers = new BrokersOfTest();
  beforeEach(() => {
    brokers.folder = folderOfTest();
  });
  afterEach(() => brokers.stop());
  return brokers;
}

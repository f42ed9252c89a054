import { join } from "node:path";
import { readWorkerConfig, type WorkerQueueConfig } from "@sluice/config";
import { describe, expect, it } from "vitest";
import { projectFolder } from "../../test/project-folder.ts";
import { consumersElsewhere } from "./elsewhere.ts";

interface Roles {
  readonly sends?: readonly string[];
  /** Queues, each with an optional dead-letter queue: `orders>dead`. */
  readonly receives?: readonly string[];
}

function worker(name: string, { sends = [], receives = [] }: Roles): WorkerQueueConfig {
  const config = {
    name,
    queues: {
      producers: sends.map((queue, i) => ({ binding: `Q${i}`, queue })),
      consumers: receives.map((text) => {
        const [queue, dead] = text.split(">");
        return { queue, dead_letter_queue: dead };
      }),
    },
  };
  return readWorkerConfig(join(projectFolder({ "wrangler.json": JSON.stringify(config) }), "wrangler.json"));
}

/** Maps each Worker of another process to its adopted queues. */
function adopted(own: WorkerQueueConfig[], ...others: WorkerQueueConfig[]) {
  return Object.fromEntries(
    consumersElsewhere(own, others).map(({ workerName, consumers }) => [
      workerName,
      consumers.map(({ queue }) => queue),
    ]),
  );
}

describe("consumersElsewhere", () => {
  it("finds the consumer of a queue that this process only sends to", () => {
    const own = [worker("api", { sends: ["orders", "mails"] })];
    const others = [
      worker("mailer", { receives: ["mails", "faxes"] }),
      worker("other", { sends: ["orders"] }),
    ];
    expect(adopted(own, ...others)).toEqual({ mailer: ["mails"] });
  });

  it("prefers a consumer of one's own, then that of the oldest process", () => {
    const own = [worker("api", { sends: ["orders", "mails"], receives: ["orders"] })];
    const others = [
      worker("first", { receives: ["orders", "mails"] }),
      worker("second", { receives: ["mails"] }),
    ];
    expect(adopted(own, ...others)).toEqual({ first: ["mails"] });
  });

  it("follows the dead-letter queues of consumers here and of those found", () => {
    const own = [worker("api", { sends: ["orders"], receives: ["jobs>dead-jobs"] })];
    const others = [
      worker("shop", { receives: ["orders>dead-orders"] }),
      worker("morgue", { receives: ["dead-orders", "dead-jobs"] }),
    ];
    const found = adopted(own, ...others);
    expect(found).toEqual({ shop: ["orders"], morgue: expect.arrayContaining(["dead-orders", "dead-jobs"]) });
  });

  it("takes no Worker from elsewhere that runs here too", () => {
    const own = [worker("api", { sends: ["orders"] })];
    expect(adopted(own, worker("api", { receives: ["orders"] }))).toEqual({});
  });

  it("adopts only the consumer", () => {
    const [found] = consumersElsewhere(
      [worker("api", { sends: ["orders"] })],
      [worker("shop", { sends: ["secrets"], receives: ["orders"] })],
    );
    expect(found).toMatchObject({ workerName: "shop", producers: [], queueSettings: {}, warnings: [] });
  });
});

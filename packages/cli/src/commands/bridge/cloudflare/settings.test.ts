import { expect, it } from "vitest";
import { wranglerFlagsOf } from "./settings.ts";

it.each([
  [
    {
      dead_letter_queue: "mails-dead",
      settings: {
        batch_size: 7,
        max_wait_time_ms: 3_500,
        max_retries: 0,
        max_concurrency: 4,
        retry_delay: 9,
      },
    },
    " --batch-size 7 --batch-timeout 3.5 --message-retries 0 --max-concurrency 4 --retry-delay-secs 9 --dead-letter-queue mails-dead",
  ],
  [{ dead_letter_queue: "", settings: { batch_size: 7, max_concurrency: null } }, " --batch-size 7"],
  [{}, ""],
])("Wrangler adds a consumer with %j again by the flags%s", (consumer, flags) => {
  expect(wranglerFlagsOf({ consumer_id: "1", type: "worker", ...consumer })).toBe(flags);
});

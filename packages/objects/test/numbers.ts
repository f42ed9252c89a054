/**
 * A program whose objects write numbers, each of which is printed once it was answered: one way after another, until it
 * is killed.
 */
import { writeSync } from "node:fs";
import { openObjects } from "../src/index.ts";
import type { ObjectState } from "../src/instance/instance.ts";

const [folder = "", first = "0"] = process.argv.slice(2);
/** How many are under way at a time. */
const SENDERS = 8;

const { env } = openObjects({
  folder,
  vars: {},
  error: (line) => console.error(line),
  classes: {
    NUMBERS: {
      uniqueKey: "numbers",
      construct: ({ storage }: ObjectState) => {
        storage.sql.exec(
          "CREATE TABLE IF NOT EXISTS numbers (n INTEGER PRIMARY KEY, twin INTEGER, filler BLOB)",
        );
        const insert = (n: number, twin: number) =>
          storage.sql.exec("INSERT INTO numbers VALUES (?, ?, zeroblob(?))", n, twin, (n * 37) % 3_000);
        return {
          /** A pair that is there together, or not at all. */
          write: (n: number) => {
            if (n % 3 === 0) {
              storage.transactionSync(() => {
                insert(2 * n, 2 * n + 1);
                insert(2 * n + 1, 2 * n);
              });
              return;
            }
            insert(2 * n, 2 * n + 1);
            insert(2 * n + 1, 2 * n);
            void storage.setAlarm(Date.now() + 3_600_000 - n);
          },
        };
      },
    },
  },
});
const numbers = env.NUMBERS as { getByName(name: string): { write(n: number): Promise<void> } };

let next = Number(first);
const send = async () => {
  while (true) {
    const n = next++;
    await numbers.getByName(`object ${n % 3}`).write(n);
    // Written before anything else is done: what is in this pipe was answered.
    writeSync(1, `${n}\n`);
  }
};
await Promise.all(Array.from({ length: SENDERS }, send));

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type WranglerIn, wranglerIn } from "@sluice/project/wrangler/run-wrangler";
import { afterAll, beforeAll, expect, it } from "vitest";
import { freePorts, type Lab, openLab } from "./lab.ts";
import { type Running, sluice } from "./running.ts";

interface Notification {
  readonly bucket: string;
  readonly action: string;
  readonly object: { readonly key: string; readonly size?: number; readonly eTag?: string };
}

let lab: Lab;
let running: Running;
let wrangler: WranglerIn;
let url: string;

beforeAll(async () => {
  lab = openLab("uploads");
  const ports = await freePorts();
  url = ports.url;
  running = sluice(["dev", ...ports.options], lab.folder, lab.env);
  writeFileSync(join(lab.folder, "file.txt"), "hello");
  wrangler = wranglerIn(lab.folder, {
    ...lab.env,
    CLOUDFLARE_API_BASE_URL: `${url}/__sluice/client/v4`,
    CLOUDFLARE_API_TOKEN: "any-token",
    CLOUDFLARE_ACCOUNT_ID: "any-account",
  });
  await running.printed(/admin +http/);
});
afterAll(async () => {
  wrangler?.[Symbol.dispose]();
  await running.stop();
  lab.remove();
});

/** Runs a command of Wrangler's. @returns what it prints. */
async function run(code: number, command: string): Promise<string> {
  const result = await wrangler(command.split(" "));
  expect(result.code, `${command}\n${result.all}`).toBe(code);
  return result.all;
}

async function received(): Promise<string[]> {
  const all = (await (await fetch(`${url}/`)).json()) as Notification[];
  return all.map(({ bucket, action, object }) => `${bucket}: ${action} ${object.key} ${object.size ?? "-"}`);
}

it("a queue is notified of writes by a Worker and by Wrangler, each once", async () => {
  await fetch(`${url}/a.txt`, { method: "PUT", body: "12345" });
  await fetch(`${url}/a.txt`, { method: "DELETE" });
  await run(0, "r2 object put uploads/b.txt --file file.txt --local");
  await run(0, "r2 object delete uploads/b.txt --local");
  await expect
    .poll(received)
    .toEqual([
      "uploads: PutObject a.txt 5",
      "uploads: DeleteObject a.txt -",
      "uploads: PutObject b.txt 5",
      "uploads: DeleteObject b.txt -",
    ]);
  const response = await fetch(`${url}/__sluice/api/queues/events/history?kind=accepted`);
  const { events } = (await response.json()) as { events: { by: string }[] };
  expect(new Set(events.map(({ by }) => by))).toEqual(new Set(["R2 bucket uploads"]));
});

// conformance: wrangler-r2-notifications
it("wrangler r2 bucket notification create, list, get and delete act on the broker", async () => {
  const of = "r2 bucket notification";
  const create = `${of} create invoices --event-type object-create --queue events --prefix in/ --suffix .pdf`;
  expect(await run(0, create)).toContain("Event notification rule created successfully!");
  expect(await run(1, create)).toContain("[code: 11020]");
  const listed = await run(0, `${of} list invoices`);
  expect(listed).toMatch(/rule_id: +[0-9a-f]{32}\ncreated_at: +\S+Z\nqueue_name: +events\nprefix: +in\//);
  expect(await run(0, `${of} get invoices`)).toContain("PutObject,CompleteMultipartUpload,CopyObject");
  for (const key of ["in/1.txt", "in/2.pdf"]) {
    await run(0, `r2 object put invoices/${key} --file file.txt --local`);
  }
  await expect.poll(received).toContain("invoices: PutObject in/2.pdf 5");
  expect(await received()).not.toContain("invoices: PutObject in/1.txt 5");
  expect(await run(1, "queues delete events")).toContain("[code: 11017]");
  const [, rule = ""] = /rule_id: +([0-9a-f]{32})/.exec(listed) ?? [];
  expect(await run(0, `${of} delete invoices --queue events --rule ${rule}`)).toContain(
    "deleted successfully!",
  );
  expect(await run(1, `${of} list invoices`)).toContain("[code: 11015]");
});

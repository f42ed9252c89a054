import { projectFolder } from "@sluice/project/test/project-folder";
import { describe, expect, it } from "vitest";
import { collected } from "../../../test/collected.ts";
import { type DoctorOptions, doctor } from "./doctor.ts";
import type { Finding } from "./finding.ts";

const HEAD = 'name = "shop"\nmain = "shop.js"\ncompatibility_date = "2026-11-01"\n';
const CODE = "export default { fetch() {}, queue() {} };";
const PRODUCER = '[[queues.producers]]\nbinding = "ORDERS"\nqueue = "orders"\n';
const CONSUMER = '[[queues.consumers]]\nqueue = "orders"\n';
const BROKER = `name = "broker"
main = "shop.js"
compatibility_date = "2026-11-01"
[[durable_objects.bindings]]
name = "SLUICE_QUEUES"
class_name = "QueueBroker"
`;

async function examine(
  files: Readonly<Record<string, string>>,
  options: Partial<DoctorOptions> = {},
): Promise<{ code: number; out: string; err: string }> {
  const folder = projectFolder({ "shop.js": CODE, ...files });
  const { printer, said } = collected();
  const code = await doctor({ targets: [], ...options }, printer, { cwd: folder, env: {} });
  return { code, out: said.out.replaceAll(`${folder}/`, ""), err: said.err };
}

/** Lists what the command finds in a project of a `wrangler.toml` and any further files. */
async function findingsIn(toml: string, more: Readonly<Record<string, string>> = {}) {
  const { code, out } = await examine({ "wrangler.toml": toml, ...more }, { json: true });
  const { findings } = JSON.parse(out) as { findings: Finding[] };
  return { code, findings, codes: findings.map((finding) => finding.code) };
}

describe("sluice doctor", () => {
  it("says in one line that nothing is wrong with a project, and in JSON that there are no findings", async () => {
    const files = { "wrangler.toml": HEAD + PRODUCER + CONSUMER };
    expect(await examine(files)).toEqual({
      code: 0,
      out: "",
      err: "Nothing is wrong with 1 Worker and 1 queue.\n",
    });
    expect((await examine(files, { json: true })).out).toBe('{\n  "findings": []\n}\n');
  });

  it("prints what it finds with its file and line, errors first", async () => {
    const toml = `${HEAD.replace("shop.js", "gone.js") + PRODUCER + CONSUMER}max_retries = 0\n`;
    const { code, out } = await examine({ "wrangler.toml": toml });
    expect(code).toBe(1);
    expect(out).toBe(
      'wrangler.toml: The entry-point file at "gone.js" was not found.\n' +
        'wrangler.toml:7: warning: A message of "orders" that fails once is deleted: max_retries is 0, and it has no ' +
        "dead_letter_queue.\n",
    );
  });

  it("asks about the name of a queue that has settings and no Worker, with its file and line", async () => {
    const toml = `${HEAD}${PRODUCER}${CONSUMER}[sluice.queues.order]\nvisibility_timeout = 30\n`;
    expect(await examine({ "wrangler.toml": toml })).toMatchObject({
      code: 0,
      out: expect.stringContaining(
        'wrangler.toml:9: warning: No Worker names the queue "order". Did you mean "orders"?\n',
      ),
    });
  });

  it("names each mistake beside a [sluice] table in a line, and not the table", async () => {
    const mistaken = `${CONSUMER}max_retrys = 2\n[sluice]\nproject = "shop"\n`;
    const { code, out } = await examine({ "wrangler.toml": `typo = 1\n${HEAD}${PRODUCER}${mistaken}` });
    expect(code).toBe(0);
    expect(out).toBe(
      'wrangler.toml: warning: Unexpected fields found in top-level field: "typo"\n' +
        'wrangler.toml:10: warning: Unexpected fields found in queues.consumers[0] field: "max_retrys"\n',
    );
  });

  it("finds a queue in the cloudflare.config.ts that names it, whatever its settings beside it", async () => {
    const env = '{ ORDERS: { type: "queue", name: "orders" } }';
    const { out } = await examine({
      "package.json": '{ "type": "module" }',
      "cloudflare.config.ts": `export default { worker: {
        name: "shop", entrypoint: "shop.js", compatibilityDate: "2026-11-01", env: ${env},
      } };`,
      "wrangler.toml": "[sluice.queues.orders]\nmax_receives_per_second = 5\n",
    });
    expect(out).toMatch(/^cloudflare\.config\.ts: warning: No Worker consumes "orders"/);
  });

  it.each<[string, string, Finding["code"], number, RegExp]>([
    ["a queue without a consumer", PRODUCER, "no-consumer", 0, /"shop" sends to/],
    [
      "dead letters without a reader",
      `${PRODUCER + CONSUMER}dead_letter_queue = "dead"\n`,
      "dead-letters-unread",
      0,
      /dead letters of "orders".*sluice queues redrive dead/,
    ],
    [
      "no second chance",
      `${PRODUCER + CONSUMER}max_retries = 0\n`,
      "no-dead-letter-queue",
      0,
      /fails once is deleted/,
    ],
    [
      "messages that expire before they are due",
      `${PRODUCER + CONSUMER}[sluice.queues.orders]\ndelivery_delay = 60\nmessage_retention_period = 60\n`,
      "expires-undelivered",
      1,
      /wait 60 s .* deleted after 60 s/,
    ],
    [
      "a binding whose delay outlives the message",
      `${PRODUCER}delivery_delay = 90\n${CONSUMER}[sluice.queues.orders]\nmessage_retention_period = 60\n`,
      "expires-undelivered",
      1,
      /wait 90 s/,
    ],
    [
      "retries that outlive the message",
      `${PRODUCER + CONSUMER}max_retries = 100\nretry_delay = 86400\n`,
      "expires-while-retried",
      0,
      /100 retries after 86400 s each take 100 d/,
    ],
    [
      "a producer without a queue",
      '[[queues.producers]]\nbinding = "MY_Q"\n',
      "queue-named-by-binding",
      0,
      /"shop-my-q"/,
    ],
    [
      "a pull consumer in a file",
      `${PRODUCER + CONSUMER}type = "http_pull"\n`,
      "pull-consumer-in-file",
      0,
      /^Wrangler by itself refuses .*"npx sluice deploy" takes it\. To deploy without Sluice, .*queues consumer http add orders/,
    ],
    [
      "a remote binding",
      `${PRODUCER}remote = true\n${CONSUMER}`,
      "remote-binding",
      0,
      /stay on the local broker/,
    ],
    [
      "settings that Cloudflare does not know",
      `${PRODUCER + CONSUMER}retry_delay = 7\n` +
        "[sluice.queues.orders]\ndelivery_delay = 5\nmax_receives_per_second = 10\n" +
        '[sluice.queues.orders.retry]\npolicy = "exponential"\nbase = 2\n',
      "sluice-only",
      0,
      /^"npx sluice deploy" takes .* Without Sluice, .*queues update orders --delivery-delay-secs 5.*retry_delay, 7 s.*no max_r/,
    ],
    ["what is deprecated", `${PRODUCER}delivery_delay = 5\n${CONSUMER}`, "configuration", 0, /deprecated/],
    ["what production refuses", `${CONSUMER}max_batch_timeout = 61\n`, "configuration", 1, /from 0 to 60/],
  ])("finds %s", async (_, toml, expected, exitCode, text) => {
    const { code, findings } = await findingsIn(HEAD + toml);
    const finding = findings.find((one) => one.code === expected && text.test(one.text));
    expect(finding, JSON.stringify(findings)).toBeDefined();
    expect(finding?.severity).toBe(exitCode === 1 ? "error" : "warning");
    expect(code).toBe(exitCode);
  });

  it("finds messages that pull consumers cannot read, unless a flag makes them JSON", async () => {
    const old = HEAD.replace("2026-11-01", "2024-03-17");
    const pulled = `${PRODUCER + CONSUMER}type = "http_pull"\n`;
    expect((await findingsIn(old + pulled)).codes).toContain("v8-to-pull-consumer");
    const flag = 'compatibility_flags = ["queues_json_messages"]\n';
    expect((await findingsIn(old + flag + pulled)).codes).not.toContain("v8-to-pull-consumer");
    expect((await findingsIn(HEAD + pulled)).codes).not.toContain("v8-to-pull-consumer");
    const off = 'compatibility_flags = ["no_queues_json_messages"]\n';
    expect((await findingsIn(HEAD + off + pulled)).codes).toContain("v8-to-pull-consumer");
  });

  it("finds a Worker that cannot be deployed because it has no compatibility date", async () => {
    const { codes } = await findingsIn(HEAD.replace(/compatibility_date.*\n/, "") + PRODUCER + CONSUMER);
    expect(codes).toContain("missing-compatibility-date");
  });

  it("asks for no consumer where clients of SQS read", async () => {
    const toml = `${HEAD + PRODUCER}[sluice.queues.orders]\nvisibility_timeout = 60\n`;
    expect((await findingsIn(toml)).codes).toEqual(["sluice-only"]);
  });

  it("says of a deployed broker that it would be open, and nothing about Cloudflare's queues", async () => {
    const settings = "[sluice.queues.orders]\nmax_receives_per_second = 10\n";
    const worker = HEAD + PRODUCER + CONSUMER + settings;
    const run = async (vars: string) => {
      const files = { "wrangler.toml": BROKER + vars, "shop/wrangler.toml": worker, "shop/shop.js": CODE };
      const { code, out } = await examine(files, { targets: ["shop/wrangler.toml"], json: true });
      const { findings } = JSON.parse(out) as { findings: Finding[] };
      return { code, codes: findings.map((finding) => finding.code) };
    };
    expect(await run("")).toEqual({ code: 0, codes: [] });
    expect(await run('[vars]\nSLUICE_ENV = "local"\n')).toEqual({ code: 1, codes: ["open-broker"] });
    expect(await run('[vars]\nSLUICE_ENV = "production"\n')).toEqual({ code: 0, codes: [] });
  });

  it.each(['broker = "shop-queues"', 'project = "shop"'])(
    "says nothing about Cloudflare's queues to a project that names its deployment: %s",
    async (line) => {
      const settings = "[sluice.queues.orders]\nmax_receives_per_second = 10\n";
      const toml = `${HEAD + PRODUCER + CONSUMER}type = "http_pull"\n${settings}`;
      expect((await findingsIn(toml)).codes).toEqual(["pull-consumer-in-file", "sluice-only"]);
      expect((await findingsIn(`${toml}[sluice]\n${line}\n`)).codes).toEqual([]);
    },
  );

  it("exits with 1 where there is no project", async () => {
    const { code, out } = await examine({});
    expect(code).toBe(1);
    expect(out).toContain("There is no wrangler.json");
  });

  it("reads the environment that is asked for", async () => {
    const toml = `${HEAD}[env.staging]\n${PRODUCER.replace("[[queues", "[[env.staging.queues")}`;
    expect((await examine({ "wrangler.toml": toml }, { env: "staging" })).out).toContain(
      '"shop-staging" sends to',
    );
  });
});

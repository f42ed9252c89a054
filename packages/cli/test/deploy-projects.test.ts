import { describe, expect, it } from "vitest";
import { cloudOfFile } from "./cloudflare/cloud-of-file.ts";
import { KINDS, type Repository } from "./cloudflare/repository.ts";

const cloud = await cloudOfFile();
const { account } = cloud;

const shop = (more?: string, env?: NodeJS.ProcessEnv) => cloud.shop(more, env);

/** Makes a second project, with other Workers and another queue. */
function bank(more = "", queue = "bills", env: NodeJS.ProcessEnv = {}): Repository {
  const made = cloud.repository("bank", env);
  made.worker("bank", { sends: queue, more });
  made.worker("biller", { consumes: queue, more });
  return made;
}

const SHARED = '[sluice]\nbroker = "team"\n';
const bound = (broker = "sluice") => account.live(broker).bindings.flatMap(({ service }) => service ?? []);

describe.each(KINDS)("a deployment of some of a project's Workers: %s", (kind) => {
  cloud.configuredBy(kind);

  it("keeps consumers bound that it does not name, and says so", async () => {
    const project = shop();
    expect(await project.run("deploy", ["web", "mailer"])).toMatchObject({ code: 0 });
    const alone = await project.run("deploy", ["web"]);
    expect(alone.output).toContain("  • mailer  not named here: it stays bound");
    expect(alone.output).toContain("Nothing to deploy.");
    project.worker("web", { sends: "other" });
    const changed = await project.run("deploy", ["web"]);
    expect(changed.output).toContain("  ~ sluice  changed");
    expect(bound()).toEqual(["mailer"]);
  });

  it("detaches the consumer that --detach names", async () => {
    const project = await cloud.deployedShop();
    const { code, output } = await project.run("deploy", ["web"], { detach: ["mailer"] });
    expect({ code, bound: bound() }).toEqual({ code: 0, bound: [] });
    expect(output).toContain("  - mailer  detached: the broker calls it no more");
    expect((await project.run("deploy", ["web"])).output).toContain("Nothing to deploy.");
    await project.run("deploy", ["web", "mailer"]);
    expect(bound()).toEqual(["mailer"]);
  });

  it("refuses to detach an unknown Worker, and one that it deploys", async () => {
    const project = await cloud.deployedShop();
    const unknown = await project.run("deploy", ["web"], { detach: ["mailr"] });
    expect(unknown).toMatchObject({ code: 1, output: expect.stringContaining('--detach names "mailr"') });
    expect(unknown.output).toContain("It knows: mailer, web.");
    const both = await project.run("deploy", ["web", "mailer"], { detach: ["mailer"] });
    expect(both).toMatchObject({ code: 1, output: expect.stringContaining("--detach names it too") });
    expect(bound()).toEqual(["mailer"]);
  });

  it("leaves out a consumer that has gone from the account, and says so", async () => {
    const project = await cloud.deployedShop();
    account.remove("mailer", true);
    project.worker("web", { sends: "mails", code: "2" });
    const { code, output } = await project.run("deploy", ["web"]);
    expect({ code, bound: bound() }).toEqual({ code: 0, bound: [] });
    expect(output).toContain(
      "  ! mailer  not named here: not on the account, its messages wait (--detach mailer forgets it)",
    );
  });

  it("refuses a second consumer of a queue whose first it does not name", async () => {
    const project = await cloud.deployedShop();
    project.worker("other", { consumes: "mails" });
    const { code, output } = await project.run("deploy", ["web", "other"]);
    expect({ code, bound: bound() }).toEqual({ code: 1, bound: ["mailer"] });
    expect(output).toMatch(
      /other\/(?:wrangler\.toml:\d+|cloudflare\.config\.ts): Multiple consumers defined for queue "mails": "mailer" and "other" \(project "shop" as deployed and /,
    );
    await project.run("deploy", ["web", "other"], { detach: ["mailer"] });
    expect(bound()).toEqual(["other"]);
  });

  it("does not bind a Worker whose own deployment has not ended", async () => {
    const project = shop();
    // Cloudflare knows the Worker from a deployment before Sluice.
    cloud.deployByHand("mailer");
    cloud.beforeFirst("deploy", "mailer", () => {
      throw new Error("killed");
    });
    await expect(project.run("deploy", ["web", "mailer"])).rejects.toThrow("killed");
    expect((await project.run("deploy", ["web"])).output).toContain(
      "  • mailer  not named here: its messages wait until its own deployment has ended",
    );
    expect(bound()).toEqual([]);
    await project.run("deploy", ["web", "mailer"]);
    expect(bound()).toEqual(["mailer"]);
  });
});

describe.each(KINDS)("a second project on an account: %s", (kind) => {
  cloud.configuredBy(kind);

  it("is refused by the first one's broker, and gets its own under another name", async () => {
    await cloud.deployedShop();
    const before = account.live("sluice").id;
    expect(await bank().fail("deploy", ["bank", "biller"])).toContain(
      'The broker "sluice" on the account serves the project "shop" (mailer, web). This is the project "bank".',
    );
    expect(account.live("sluice").id).toBe(before);
    expect([...account.scripts.keys()].sort()).toEqual(["mailer", "sluice", "web"]);
    await bank().succeed("deploy", ["bank", "biller"], { broker: "bank-queues" });
    expect({ shop: bound(), bank: bound("bank-queues") }).toEqual({ shop: ["mailer"], bank: ["biller"] });
    const binding = account.live("bank").bindings.find(({ script_name }) => script_name !== undefined);
    expect(binding?.script_name).toBe("bank-queues");
  });

  it("is neither rolled back nor destroyed by another project's commands", async () => {
    await cloud.deployedShop();
    const live = account.live("sluice").id;
    for (const command of ["rollback", "destroy"] as const) {
      const outcome = await bank().run(command, ["bank", "biller"], { force: true });
      expect(account.live("sluice").id, outcome.output).toBe(live);
      expect(bound()).toEqual(["mailer"]);
    }
  });

  it("does not take over another project's Worker that the broker knows", async () => {
    await cloud.deployedShop(SHARED);
    const other = cloud.repository("bank");
    other.worker("web", { sends: "bills", more: SHARED });
    for (const command of ["deploy", "destroy"] as const) {
      expect(await other.fail(command, ["web"], { force: true })).toContain(
        '"web" on the account belongs to the project "shop". This is the project "bank".',
      );
    }
    expect(account.scripts.has("web")).toBe(true);
  });

  it("does not take over a Worker as its broker that is not one of Sluice's", async () => {
    const id = cloud.deployByHand("sluice");
    for (const command of ["deploy", "destroy", "rollback"] as const) {
      const output = await shop().fail(command, ["web", "mailer"], { force: true });
      expect(output).toContain('The Worker "sluice" on the account is no broker that Sluice has deployed.');
    }
    expect(account.live("sluice").id).toBe(id);
  });

  it("is recognized under an earlier name", async () => {
    await cloud.deployedShop();
    const renamed = cloud.repository("webshop");
    renamed.worker("web", { sends: "mails" });
    expect(await renamed.run("deploy", ["web"])).toMatchObject({ code: 1 });
    renamed.worker("web", { sends: "mails", more: '[sluice]\nproject = "shop"\n' });
    await renamed.succeed("deploy", ["web"]);
    expect(bound()).toEqual(["mailer"]);
  });
});

describe.each(KINDS)("several repositories that share a broker: %s", (kind) => {
  cloud.configuredBy(kind);

  it("each deploy their own Workers, and leave those of the others as they are", async () => {
    const [first, second] = [await cloud.deployedShop(SHARED), bank(SHARED)];
    const output = await second.succeed("deploy", ["bank", "biller"]);
    expect(output).toContain('  • mailer  of the project "shop": it stays bound');
    expect(bound("team")).toEqual(["biller", "mailer"]);
    for (const project of [first, second]) {
      const names = project === first ? ["web", "mailer"] : ["bank", "biller"];
      const again = await project.run("deploy", names);
      expect(again.output).toContain("Nothing to deploy.");
    }
    first.worker("mailer", { consumes: "mails", maxBatchSize: 3, more: SHARED });
    expect((await first.run("deploy", ["mailer"])).code).toBe(0);
    expect(bound("team")).toEqual(["biller", "mailer"]);
    expect((await second.run("deploy", ["bank", "biller"])).output).toContain("Nothing to deploy.");
  });

  it("share it only where both name it", async () => {
    const first = shop();
    await first.run("deploy", ["web", "mailer"], {});
    const second = bank('[sluice]\nbroker = "sluice"\n');
    const output = await second.fail("deploy", ["bank", "biller"]);
    expect(output).toContain('"shop" does not say that it shares it. To share it, put broker = "sluice"');
    first.worker("web", { sends: "mails", more: '[sluice]\nbroker = "sluice"\n' });
    await first.run("deploy", ["web"]);
    expect((await second.run("deploy", ["bank", "biller"])).code).toBe(0);
    expect(bound()).toEqual(["biller", "mailer"]);
  });

  it("keep the rules of R2 buckets, also of Workers that are not named", async () => {
    const rule =
      '[[sluice.r2_notifications]]\nbucket = "uploads"\nqueue = "mails"\nevent_types = ["object-create"]\n';
    const [first, second] = [shop(SHARED + rule), bank(SHARED)];
    first.worker("web", { sends: "mails", more: SHARED });
    await first.succeed("deploy", ["web", "mailer"]);
    const rules = cloud.topologyOf("team").r2Notifications;
    expect(rules).toMatchObject([{ bucket: "uploads", queue: "mails" }]);
    await second.succeed("deploy", ["bank", "biller"]);
    expect(cloud.topologyOf("team").r2Notifications).toEqual(rules);
    expect(await first.succeed("deploy", ["web"])).toContain("Nothing to deploy.");
  });

  it("may send to a queue that another one consumes", async () => {
    const [first, second] = [shop(SHARED), cloud.repository("bank")];
    second.worker("bank", { sends: "mails", more: SHARED });
    await first.run("deploy", ["web", "mailer"]);
    expect((await second.run("deploy", ["bank"])).code).toBe(0);
    const { queues } = cloud.topologyOf("team");
    expect(queues.mails).toMatchObject({
      producers: [{ worker: "bank" }, { worker: "web" }],
      consumer: { worker: "mailer" },
    });
  });

  it("cannot consume the same queue", async () => {
    await cloud.deployedShop(SHARED);
    expect(await bank(SHARED, "mails").fail("deploy", ["bank", "biller"])).toMatch(
      /Multiple consumers defined for queue "mails": "mailer" and "biller" \(project "shop" as deployed and .*biller\/(?:wrangler\.toml:4|cloudflare\.config\.ts)\)/,
    );
  });

  it.each([
    [
      "delivery_delay = 5",
      "delivery_delay = 6",
      /Queue "mails" has two values of "delivery_delay": 5 \(project "shop" as deployed\) and 6 \(.*wrangler\.toml:\d+\)/,
    ],
    [
      "",
      "delivery_delay = 5",
      /The project "bank" sets "delivery_delay" of the queue "mails", which the project "shop" consumes and does not set\./,
    ],
  ])("cannot set a queue of another one: %j and %j", async (own, other, words) => {
    await shop(`${SHARED}[sluice.queues.mails]\n${own}\n`).run("deploy", ["web", "mailer"]);
    const second = cloud.repository("bank");
    second.worker("bank", { sends: "mails", more: `${SHARED}[sluice.queues.mails]\n${other}\n` });
    expect(await second.fail("deploy", ["bank"])).toMatch(words);
  });

  it("keep the broker's own configuration, which one of them has", async () => {
    const first = shop('[sluice]\nbroker = "team"\n');
    first.write(
      kind,
      kind === "wrangler.toml"
        ? 'name = "team"\ncompatibility_date = "2026-11-01"\nworkers_dev = false\n[vars]\nSLUICE_AWS_REGION = "eu-west-1"\n' +
            '[[durable_objects.bindings]]\nname = "SLUICE_QUEUES"\nclass_name = "QueueBroker"\n' +
            '[[migrations]]\ntag = "first"\nnew_sqlite_classes = ["QueueBroker", "Directory"]\n'
        : 'export default { worker: { name: "team", compatibilityDate: "2026-11-01", workersDev: false, ' +
            'env: { SLUICE_AWS_REGION: { type: "text", value: "eu-west-1" } }, ' +
            'exports: { QueueBroker: { type: "durable-object", storage: "sqlite" } } } };',
    );
    expect(await first.run("deploy", ["web", "mailer"])).toMatchObject({ code: 0 });
    expect((await bank(SHARED).run("deploy", ["bank", "biller"])).code).toBe(0);
    const script = account.find("team");
    expect({ subdomain: script.subdomain, migration: script.migrationTag }).toEqual({
      subdomain: false,
      migration: kind === "wrangler.toml" ? "first" : "sluice",
    });
    const variables = account.live("team").bindings.filter(({ name }) => name === "SLUICE_AWS_REGION");
    expect(variables).toMatchObject([{ text: "eu-west-1" }]);
    expect((await first.run("deploy", ["web", "mailer"])).output).toContain("Nothing to deploy.");
  });

  it("give the broker a configuration with migrations of its own, take it away again, and leave it", async () => {
    const first = shop('[sluice]\nbroker = "team"\n');
    const second = bank(SHARED);
    await first.succeed("deploy", ["web", "mailer"]);
    await second.succeed("deploy", ["bank", "biller"]);
    const own =
      'name = "team"\ncompatibility_date = "2026-11-01"\n' +
      '[[durable_objects.bindings]]\nname = "SLUICE_QUEUES"\nclass_name = "QueueBroker"\n';
    const migrations = '[[migrations]]\ntag = "first"\nnew_sqlite_classes = ["QueueBroker", "Directory"]\n';
    const succeeds = async () => {
      await first.succeed("deploy", ["web", "mailer"]);
      expect(await first.succeed("deploy", ["web", "mailer"])).toContain("Nothing to deploy.");
      expect(await second.succeed("deploy", ["bank", "biller"])).toContain("Nothing to deploy.");
      return account.find("team").migrationTag;
    };
    first.write("wrangler.toml", own + migrations);
    expect(await succeeds()).toBe("sluice");
    first.remove("wrangler.toml");
    expect(await succeeds()).toBe("sluice");
    first.write("wrangler.toml", own);
    expect(await succeeds()).toBe("sluice");
    await first.succeed("destroy", ["web", "mailer"], { force: true });
    expect(await second.succeed("deploy", ["bank", "biller"])).toContain("Nothing to deploy.");
  });

  it("leave a broker that was made with migrations of its own", async () => {
    const first = shop('[sluice]\nbroker = "team"\n');
    first.write(
      "wrangler.toml",
      'name = "team"\ncompatibility_date = "2026-11-01"\n' +
        '[[durable_objects.bindings]]\nname = "SLUICE_QUEUES"\nclass_name = "QueueBroker"\n' +
        '[[migrations]]\ntag = "first"\nnew_sqlite_classes = ["QueueBroker", "Directory"]\n',
    );
    await first.succeed("deploy", ["web", "mailer"]);
    const second = bank(SHARED);
    await second.succeed("deploy", ["bank", "biller"]);
    await first.succeed("destroy", ["web", "mailer"], { force: true });
    expect(account.find("team").migrationTag).toBe("first");
    expect(await second.succeed("deploy", ["bank", "biller"])).toContain("Nothing to deploy.");
  });

  it("leave it one by one: each takes its part of the broker along, the last one the broker", async () => {
    const [first, second] = [await cloud.deployedShop(SHARED), bank(SHARED)];
    await second.run("deploy", ["bank", "biller"]);
    const output = await first.succeed("destroy", ["web", "mailer"], { force: true });
    expect(output).toContain('  ~ team  stays: it serves bank, biller of the project "bank"');
    expect([...account.scripts.keys()].sort()).toEqual(["bank", "biller", "team"]);
    expect(bound("team")).toEqual(["biller"]);
    expect(Object.keys(cloud.topologyOf("team").queues)).toEqual(["bills"]);
    expect((await second.run("deploy", ["bank", "biller"])).output).toContain("Nothing to deploy.");
    expect((await second.run("destroy", ["bank", "biller"], { force: true })).code).toBe(0);
    expect([...account.scripts.keys()]).toEqual([]);
  });

  it("do not roll one another back", async () => {
    const [first, second] = [await cloud.deployedShop(SHARED), bank(SHARED)];
    first.worker("web", { sends: "others", more: SHARED });
    await first.run("deploy", ["web", "mailer"]);
    await second.run("deploy", ["bank", "biller"]);
    first.worker("web", { sends: "mails", more: SHARED });
    const back = await second.run("rollback", ["bank", "biller"]);
    expect(back).toMatchObject({ code: 0 });
    await second.run("deploy", ["bank", "biller"]);
    const live = account.live("team").id;
    second.worker("biller", { consumes: "bills", maxBatchSize: 2, more: SHARED });
    await second.run("deploy", ["bank", "biller"]);
    await first.run("deploy", ["web", "mailer"]);
    const refused = await second.run("rollback", ["bank", "biller"]);
    expect(refused.output).toContain(
      '"team" does not go back: since then "shop" has been deployed to it too',
    );
    expect(account.live("team").id).not.toBe(live);
    expect(bound("team")).toEqual(["biller", "mailer"]);
  });

  it("deploy an environment to the broker of that environment", async () => {
    const [first, second] = [shop(SHARED), bank(SHARED)];
    first.worker("web", { inX: {}, more: SHARED });
    first.worker("mailer", { inX: { consumes: "mails-x" }, more: SHARED });
    await first.run("deploy", ["web", "mailer"], { env: "x" });
    await second.run("deploy", ["bank", "biller"]);
    expect({ x: bound("team-x"), top: bound("team") }).toEqual({ x: ["mailer-x"], top: ["biller"] });
  });
});

it("a hundred consumers fit into the register of a broker", async () => {
  const project = cloud.repository("large");
  const more = Array.from({ length: 99 }, (_, i) => `[[queues.consumers]]\nqueue = "queue-${i}"\n`).join("");
  project.worker("many", { consumes: "queue", more });
  project.worker("web", { sends: "queue" });
  expect(await project.run("deploy", ["many", "web"])).toMatchObject({ code: 0 });
  expect((await project.run("deploy", ["web"])).output).toContain("Nothing to deploy.");
  expect(Object.keys(cloud.topologyOf("sluice").queues)).toHaveLength(100);
});

describe.each(KINDS)("two repositories that deploy at the same moment: %s", (kind) => {
  cloud.configuredBy(kind);

  const moments = [
    ["right before an upload of the broker", "before"],
    ["while the broker is uploaded, and overtaken", "overtaken"],
  ] as const;

  it.each(moments)("lose nothing of each other: %s", async (_, moment) => {
    const [first, second] = [await cloud.deployedShop(SHARED), bank(SHARED)];
    first.worker("mailer", { consumes: "mails", maxBatchSize: 3, more: SHARED });
    const comes = moment === "before" ? "bundle" : "deploy";
    cloud.beforeFirst(comes, "team", () => second.succeed("deploy", ["bank", "biller"]));
    await first.succeed("deploy", ["web", "mailer"]);
    expect(bound("team")).toEqual(["biller", "mailer"]);
    expect(cloud.topologyOf("team").queues).toMatchObject({
      bills: { consumer: { worker: "biller" } },
      mails: { consumer: { worker: "mailer", settings: { maxBatchSize: 3 } } },
    });
    for (const [project, names] of [
      [first, ["web", "mailer"]],
      [second, ["bank", "biller"]],
    ] as const) {
      expect((await project.run("deploy", names)).output).toContain("Nothing to deploy.");
    }
  });

  it.each([
    ["before the broker is told of it", "deploy", "team"],
    ["before a Worker is deleted", "delete", "web"],
  ] as const)("lose nothing of each other by a removal: %s", async (_, command, worker) => {
    const [first, second] = [await cloud.deployedShop(SHARED), bank(SHARED)];
    cloud.beforeFirst(command, worker, () => second.succeed("deploy", ["bank", "biller"]));
    await first.succeed("destroy", ["web", "mailer"], { force: true });
    expect([...account.scripts.keys()].sort()).toEqual(["bank", "biller", "team"]);
    expect(cloud.bound("team")).toEqual(["biller"]);
    expect(Object.keys(cloud.topologyOf("team").queues)).toEqual(["bills"]);
    expect((await second.run("deploy", ["bank", "biller"])).output).toContain("Nothing to deploy.");
  });

  it("both end where each has secrets, which it always uploads", async () => {
    const secrets = { SLUICE_API_TOKENS: "a-token-of-both" };
    const [first, second] = [shop(SHARED, secrets), bank(SHARED, "bills", secrets)];
    await first.run("deploy", ["web", "mailer"]);
    let turn = "first";
    cloud.before = async (command, worker) => {
      if (command !== "deploy" || worker !== "team" || turn !== "first") return;
      turn = "second";
      expect(await second.run("deploy", ["bank", "biller"])).toMatchObject({ code: 0 });
      turn = "first";
    };
    await first.succeed("deploy", ["web", "mailer"]);
    expect(bound("team")).toEqual(["biller", "mailer"]);
  });

  it("lose no queue where one of them uploads nothing but its secrets", async () => {
    const first = shop(SHARED, { SLUICE_API_TOKENS: "a-token-of-both" });
    const second = bank(SHARED);
    await first.succeed("deploy", ["web", "mailer"]);
    await second.succeed("deploy", ["bank", "biller"]);
    second.worker("bank", { sends: "loans", more: SHARED });
    cloud.beforeFirst("deploy", "team", () => second.succeed("deploy", ["bank", "biller"]));
    await first.succeed("deploy", ["web", "mailer"]);
    expect(Object.keys(cloud.topologyOf("team").queues)).toEqual(["bills", "loans", "mails"]);
  });

  it("are told the truth where Cloudflare does not say what came at the same moment", async () => {
    const project = await cloud.deployedShop(SHARED);
    project.worker("web", { sends: "others", more: SHARED });
    cloud.beforeFirst("deploy", "team", () => {
      cloud.cloudflare.refuses = (call) => call === "GET scripts/team/deployments";
    });
    const output = await project.fail("deploy", ["web", "mailer"]);
    cloud.cloudflare.refuses = () => false;
    expect(output).toContain("The broker is deployed, and whether another repository has deployed it");
    expect(output).not.toContain("was not deployed");
    expect(await project.succeed("deploy", ["web", "mailer"])).toContain("  • team  unchanged");
  });

  it("lose nothing of each other where neither has found a broker", async () => {
    const [first, second] = [shop(SHARED), bank(SHARED)];
    cloud.beforeFirst("deploy", "team", async () => {
      expect(await second.run("deploy", ["bank", "biller"])).toMatchObject({ code: 0 });
    });
    await first.succeed("deploy", ["web", "mailer"]);
    expect(cloud.bound("team")).toEqual(["biller", "mailer"]);
  });
});

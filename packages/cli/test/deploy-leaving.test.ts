import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { cloudOfFile } from "./cloudflare/cloud-of-file.ts";
import { KINDS } from "./cloudflare/repository.ts";

const cloud = await cloudOfFile();
const { account } = cloud;

const WORKERS = ["web", "mailer"];

const shop = () => cloud.shop();

/** Starts a broker that answers only how many messages wait in its queues. */
async function brokerWith(ready: Readonly<Record<string, number>>): Promise<string> {
  const queues = Object.entries(ready).map(([name, count]) => ({
    name,
    messages: { ready: count, delayed: 0, leased: 0 },
  }));
  const server = createServer((_request, response) => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ queues }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe.each(KINDS)("a rollback to what ran before Sluice: %s", (kind) => {
  cloud.configuredBy(kind);

  const NATIVE = { bindings: [{ name: "QUEUE", type: "queue" }] };

  it("names the messages that would stay in the broker, and goes back only with --force", async () => {
    const versions = { web: cloud.deployByHand("web", NATIVE), mailer: cloud.deployByHand("mailer") };
    const project = await cloud.deployedShop();
    const url = await brokerWith({ mails: 3, others: 4 });
    const refused = await project.run("rollback", WORKERS, { url });
    expect(refused.code).toBe(5);
    expect(refused.output).toContain(
      'Back to a version from before Sluice, "mailer" consumes from queues of Cloudflare\'s. ' +
        'These stay in the broker, and no Worker consumes them:\n  3 messages in "mails"\n--force goes back nevertheless.',
    );
    expect(account.live("mailer").id).not.toBe(versions.mailer);
    const output = await project.succeed("rollback", WORKERS, { url, force: true });
    expect(output).toContain('3 messages in "mails"');
    expect({ web: account.live("web").id, mailer: account.live("mailer").id }).toEqual(versions);
  });

  it("names all Workers that go back", async () => {
    const project = cloud.repository("shop");
    project.worker("mailer", { consumes: "mails" });
    project.worker("printer", { consumes: "prints" });
    const workers = ["mailer", "printer"];
    for (const worker of workers) cloud.deployByHand(worker);
    await project.run("deploy", workers);
    expect(
      (await project.run("rollback", workers, { url: await brokerWith({ prints: 1 }) })).output,
    ).toContain('"mailer" and "printer" consume from queues of Cloudflare\'s.');
  });

  it("is refused where it is unknown which messages wait", async () => {
    cloud.deployByHand("mailer");
    const project = await cloud.deployedShop();
    const { code, output } = await project.run("rollback", WORKERS, { url: "http://127.0.0.1:1" });
    expect(code).toBe(5);
    expect(output).toContain("What still waits in the queues is not known: ");
  });

  it("goes on where no message waits", async () => {
    const id = cloud.deployByHand("mailer");
    const project = await cloud.deployedShop();
    await project.succeed("rollback", WORKERS, { url: await brokerWith({ mails: 0 }) });
    expect(account.live("mailer").id).toBe(id);
  });

  it("asks nothing of a Worker that goes back to another version on the broker", async () => {
    const project = await cloud.deployedShop();
    project.worker("mailer", { consumes: "mails", code: "2" });
    await project.run("deploy", WORKERS);
    expect(await project.run("rollback", WORKERS, { url: "http://127.0.0.1:1" })).toMatchObject({ code: 0 });
  });
});

describe.each(KINDS)("a rollback of a deployment that repeats an earlier one: %s", (kind) => {
  cloud.configuredBy(kind);

  const versionsOf = (names: readonly string[]) => names.map((name) => account.live(name).id);
  const NAMES = [...WORKERS, "sluice"];
  const url = "http://127.0.0.1:1";

  it("leads to the one before it, and from there to the first", async () => {
    const project = shop();
    const states: string[][] = [];
    for (const code of ["1", "2", "1"]) {
      project.worker("web", { sends: "mails", code });
      await project.run("deploy", WORKERS);
      states.push(versionsOf(NAMES));
    }
    await project.succeed("rollback", WORKERS, { url });
    expect(versionsOf(NAMES)).toEqual(states[1]);
    await project.run("rollback", WORKERS, { url });
    expect(versionsOf(NAMES)).toEqual(states[0]);
    const { output } = await project.run("rollback", WORKERS, { url });
    expect(output).toContain("There is nothing to go back to");
  });

  it("leads to the version that was deployed by hand in between, and changes no other Worker", async () => {
    const project = shop();
    for (const code of ["0", "1"]) {
      for (const name of ["web", "mailer"] as const) {
        project.worker(name, { ...(name === "web" ? { sends: "mails" } : { consumes: "mails" }), code });
      }
      await project.run("deploy", WORKERS);
    }
    cloud.deployByHand("web");
    const before = versionsOf(NAMES);
    await project.run("deploy", WORKERS);
    await project.succeed("rollback", WORKERS, { url });
    expect(versionsOf(NAMES)).toEqual(before);
  });

  it("leads over changes of secrets alone, which are no deployments", async () => {
    const project = shop();
    project.worker("web", { sends: "mails", code: "1" });
    await project.succeed("deploy", WORKERS);
    cloud.changeSecret("web");
    const before = versionsOf(NAMES);
    project.worker("web", { sends: "mails", code: "2" });
    await project.succeed("deploy", WORKERS);
    for (const name of ["web", "mailer"]) cloud.changeSecret(name);
    const mailer = account.live("mailer").id;
    expect(await project.succeed("deploy", WORKERS)).toContain("Nothing to deploy.");
    const output = await project.succeed("rollback", WORKERS, { url });
    expect(output).toMatch(/^web {2}back to \S+$/);
    expect(versionsOf(NAMES)).toEqual([before[0], mailer, before[2]]);
  });

  it("leads over more changes of secrets than Cloudflare lists deployments", async () => {
    const project = shop();
    project.worker("web", { sends: "mails", code: "1" });
    await project.succeed("deploy", WORKERS);
    for (let i = 0; i < 12; i++) cloud.changeSecret("web");
    const before = versionsOf(NAMES);
    project.worker("web", { sends: "mails", code: "2" });
    await project.succeed("deploy", WORKERS);
    cloud.changeSecret("web");
    await project.succeed("rollback", WORKERS, { url });
    expect(versionsOf(NAMES)).toEqual(before);
    project.worker("web", { sends: "mails", code: "2" });
    await project.succeed("deploy", WORKERS);
    for (let i = 0; i < 12; i++) cloud.changeSecret("web");
    expect((await project.run("rollback", WORKERS, { url })).output).toContain(
      'Nothing goes back: of "web" Cloudflare lists only the last deployments, which changed secrets.',
    );
  });

  it("is refused, by their names, where it would bring back earlier secrets, and goes on with --force", async () => {
    const project = await cloud.deployedShop();
    cloud.changeSecret("mailer", "first");
    const before = versionsOf(NAMES);
    for (const [name, queues] of [
      ["web", { sends: "mails" }],
      ["mailer", { consumes: "mails" }],
    ] as const)
      project.worker(name, { ...queues, code: "2" });
    await project.succeed("deploy", WORKERS);
    cloud.changeSecret("mailer", "second");
    const changed = account.live("mailer").id;
    const refused = await project.run("rollback", WORKERS, { url });
    expect(refused.code).toBe(5);
    expect(refused.output).toContain(
      '"mailer" does not go back: it would have its earlier secrets again, and these have changed since: API_KEY\n--force goes back nevertheless.',
    );
    expect(account.live("mailer").id).toBe(changed);
    const output = await project.succeed("rollback", WORKERS, { url, force: true });
    expect(output).toContain('"mailer" goes back to its earlier secrets too: API_KEY');
    expect(versionsOf(NAMES)).toEqual(before);
    expect(account.find("mailer").secrets.get("API_KEY")).toBe("first");
  });

  it("is refused as a whole where Cloudflare lists nothing but changes of secrets of a Worker", async () => {
    const project = await cloud.deployedShop();
    project.worker("web", { sends: "mails", code: "2" });
    project.worker("mailer", { consumes: "mails", code: "2" });
    await project.succeed("deploy", WORKERS);
    for (let i = 0; i < 10; i++) cloud.changeSecret("web", `${i}`);
    const before = versionsOf(NAMES);
    expect(await project.fail("rollback", WORKERS, { url, force: true })).toContain(
      'Nothing goes back: of "web" Cloudflare lists only the last deployments, which changed secrets.',
    );
    expect(versionsOf(NAMES)).toEqual(before);
  });

  it("covers the earlier run that did not end", async () => {
    const project = await cloud.deployedShop();
    const before = versionsOf(NAMES);
    project.worker("web", { sends: "others", code: "2" });
    project.worker("mailer", { consumes: "mails", code: "2" });
    cloud.beforeFirst("deploy", "web", () => {
      throw new Error("killed");
    });
    await expect(project.run("deploy", WORKERS)).rejects.toThrow("killed");
    await project.run("deploy", WORKERS);
    await project.run("rollback", WORKERS, { url });
    expect(versionsOf(NAMES)).toEqual(before);
  });
});

describe.each(KINDS)("a removal: %s", (kind) => {
  cloud.configuredBy(kind);

  it("says that the Workers are deleted too, and how to keep them", async () => {
    const project = await cloud.deployedShop();
    const { code, output } = await project.run("destroy", WORKERS, { url: await brokerWith({ mails: 2 }) });
    expect(code).toBe(5);
    expect(output).toContain(
      "  - web\n  - mailer\n  - sluice\n\n" +
        "The Workers themselves are deleted, with their code and data. --keep-workers leaves them.",
    );
    expect(output).toContain('These are lost with it:\n  2 messages in "mails"');
    expect(account.scripts.size).toBe(3);
  });

  it("of some of the Workers leaves the broker to the others", async () => {
    const project = await cloud.deployedShop();
    const options = { force: true, url: await brokerWith({ mails: 2, others: 1 }) };
    const output = await project.succeed("destroy", ["mailer"], options);
    expect(output).toContain('  ~ sluice  stays: it serves web of the project "shop"');
    expect(output).toContain(
      'These stay in the broker, and no Worker consumes them:\n  2 messages in "mails"\n',
    );
    expect([...account.scripts.keys()].sort()).toEqual(["sluice", "web"]);
    expect(cloud.topologyOf("sluice").queues.mails).toMatchObject({
      consumer: null,
      producers: [{ worker: "web" }],
    });
    expect((await project.run("deploy", ["web"])).output).toContain("Nothing to deploy.");
  });

  it("of the broker alone is refused while a Worker sends to it", async () => {
    const project = await cloud.deployedShop();
    const options = { keepWorkers: true, url: await brokerWith({}) };
    for (const force of [false, true]) {
      const output = await project.fail("destroy", WORKERS, { ...options, force });
      expect(output).toContain('The broker "sluice" is not deleted: these Workers stay and send to it: web.');
    }
    for (const name of WORKERS) cloud.deployByHand(name);
    await project.succeed("destroy", WORKERS, { ...options, force: true });
    expect([...account.scripts.keys()].sort()).toEqual(["mailer", "web"]);
  });

  it("says what happens to the Workers, to the broker, to the messages", async () => {
    const project = await cloud.deployedShop();
    const url = await brokerWith({});
    const said = async (names: readonly string[], more: object) =>
      (await project.run("destroy", names, { url, ...more })).output.split("\n").at(-1);
    const stays =
      "The broker stays with all of its messages, and forgets what these Workers do with its queues";
    expect(await said(["mailer"], {})).toBe(
      `Deleted: "mailer". ${stays}. That cannot be undone: --force confirms it.`,
    );
    expect(await said(["mailer"], { keepWorkers: true })).toBe(
      `No Worker is deleted. ${stays}: --force confirms it.`,
    );
    expect(await said(WORKERS, {})).toBe(
      'Deleted: "web" and "mailer". The broker is deleted with all of its messages. That cannot be undone: --force ' +
        "confirms it.",
    );
  });

  it("continues after a Worker that was not deleted", async () => {
    const project = shop();
    project.worker("more", { sends: "mails" });
    await project.run("deploy", ["web", "mailer", "more"]);
    cloud.beforeFirst("delete", "mailer", () => {
      throw new Error("killed");
    });
    await expect(project.run("destroy", WORKERS, { force: true })).rejects.toThrow("killed");
    const output = await project.succeed("destroy", WORKERS, { force: true });
    expect(output).toContain('  • sluice  is left alone: it serves more of the project "shop"');
    expect([...account.scripts.keys()].sort()).toEqual(["more", "sluice"]);
  });
});

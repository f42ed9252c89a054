import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  descendants,
  eventually,
  freePorts,
  isRunning,
  type Lab,
  navigate,
  openLab,
  seePage,
} from "./lab.ts";
import { type Running, sluice } from "./running.ts";

/** Three ordinary Workers: one sends, one has a Durable Object that sends, one receives. */
describe("sluice dev with several Workers", () => {
  let lab: Lab;
  let running: Running;
  let url: string;
  const get = async (path: string) => (await fetch(url + path)).text();
  const received = async (): Promise<string[]> => JSON.parse(await get("/received"));
  const edit = (file: string, change: (text: string) => string) => {
    const path = join(lab.folder, file);
    writeFileSync(path, change(readFileSync(path, "utf8")));
  };

  beforeAll(async () => {
    lab = openLab("shop");
    writeFileSync(join(lab.folder, "front/.dev.vars"), "SECRET=from-dev-vars\n");
    const ports = await freePorts();
    url = ports.url;
    running = sluice(["dev", "front", "objects", "mailer", ...ports.options], lab.folder, lab.env);
    await running.printed(/admin +http/);
  });
  afterAll(async () => {
    await running.stop();
    lab.remove();
  });

  it("shows the queues and the addresses", () => {
    expect(running.output).toContain("mails    front (MAILS), objects (MAILS)  mailer");
    expect(running.output).toContain(`front   ${url}/`);
    expect(running.output).toContain(`queues  ${url}/__sluice/`);
  });

  it("is found by commands on a broker, also from a Worker's folder", async () => {
    const info = sluice(["queues", "info", "mails", "--json"], join(lab.folder, "mailer"), lab.env);
    expect(await info.ended).toBe(0);
    expect(JSON.parse(info.output)).toMatchObject({ consumer: { worker: "mailer" } });
  });

  it("lists the Workers' own bindings, and none of Sluice's", () => {
    expect(running.output).toMatch(/env\.MAILS \(mails\) +Queue +local\n/);
    expect(running.output).toMatch(/env\.RECEIVED \(mailer#Received\) +Worker +local\n/);
    expect(running.output).toContain("Using secrets defined in front/.dev.vars");
    expect(running.output).not.toMatch(/__SLUICE|SLUICE_QUEUES|connected\]|sluice\/\.dev\.vars/);
  });

  it.each(["class", "imported", "entrypoint", "object"])(
    "accepts messages that are sent by: %s",
    async (way) => {
      expect(await get(`/send/${way}?text=${way}`)).toBe("sent");
      await expect.poll(received).toContain(way);
    },
  );

  it("keeps a message of a queue without a consumer", async () => {
    await get("/send/nobody?text=kept");
    expect(await get("/backlog/nobody")).toBe("1");
  });

  it("shows the user's code its own bindings and no other, secrets of .dev.vars among them", async () => {
    expect(JSON.parse(await get("/env"))).toEqual({
      keys: ["MAILS", "NOBODYS", "OBJECTS", "RECEIVED", "SECRET", "SELF"],
      secret: "from-dev-vars",
    });
  });

  it("takes up a changed .dev.vars", async () => {
    const secret = async () => JSON.parse(await get("/env")).secret;
    edit("front/.dev.vars", () => "SECRET=changed\n");
    await expect.poll(secret).toBe("changed");
  });

  it("serves its own paths to programs and browsers, and no others", async () => {
    expect(JSON.parse(await get("/__sluice/health"))).toMatchObject({ status: "ok" });
    expect(await navigate(`${url}/__sluice/`)).toContain("<title>Sluice");
    await seePage(url);
    expect(await get("/__sluicegate")).toBe("hello /__sluicegate");
  });

  it("serves static assets as it would without us: the page to browsers, the Worker to programs", async () => {
    expect(await get("/")).toContain("The shop's page");
    expect(await navigate(`${url}/deep/link`)).toContain("The shop's page");
    expect(await get("/deep/link")).toBe("hello /deep/link");
  });

  it("runs changed code for messages that waited already", async () => {
    await get("/send/later?text=delayed&seconds=2");
    edit("mailer/src/signature.ts", () => 'export const signature = ", yours";');
    await expect.poll(received).toContain("delayed, yours");
  });

  it("keeps the last valid configuration when one breaks, and uses the mended one", async () => {
    const broken = running.output.length;
    edit("mailer/wrangler.toml", (toml) => `${toml}broken = = 1\n`);
    await running.printed(/mailer\/wrangler\.toml:\d+.*\n(.*\n)*Sluice goes on/, broken);
    await get("/send/class?text=meanwhile");
    await expect.poll(received).toContain("meanwhile, yours");

    const mended = running.output.length;
    edit("mailer/wrangler.toml", (toml) =>
      toml.replace("broken = = 1\n", '[[queues.consumers]]\nqueue = "nobodys"\nmax_batch_timeout = 0\n'),
    );
    await running.printed(/nobodys {2}front \(NOBODYS\) +mailer/, mended);
    await expect.poll(received).toContain("kept, yours");
  });

  it("keeps its data where wrangler dev keeps it: beside the first Worker", () => {
    const objects = readdirSync(join(lab.folder, "front/.wrangler/state/v3/do"));
    expect(objects.sort()).toEqual([
      "mailer-Inbox",
      "objects-Counter",
      "sluice-Directory",
      "sluice-QueueBroker",
    ]);
  });

  it("prints no line for its own requests", () => {
    expect(running.output).toMatch(/GET \/send\/class 200/);
    expect(running.output).not.toMatch(/GET \/__sluice\/(api|\s)/);
  });

  it("leaves no file for version control, and no redirect", () => {
    expect(readFileSync(join(lab.folder, ".sluice/.gitignore"), "utf8")).toBe("*\n");
    expect(existsSync(join(lab.folder, "front/.wrangler/deploy"))).toBe(false);
  });

  it("ends every process that it started when it is interrupted", async () => {
    const children = descendants(running.pid);
    expect(children.length).toBeGreaterThan(1);
    expect(await running.stop("SIGINT")).toBe(130);
    await eventually(async () => children.filter(isRunning), []);
  });
});

/** One Worker with everything unusual: environment, custom build, alias, separate modules, private state. */
describe("sluice dev --env in the folder of a Worker", { tags: "slow" }, () => {
  let lab: Lab;
  let running: Running;
  let url: string;
  const get = async (path: string) => (await fetch(url + path)).text();

  beforeAll(async () => {
    lab = openLab("solo");
    writeFileSync(join(lab.folder, ".dev.vars"), "SECRET=plain\n");
    writeFileSync(join(lab.folder, ".dev.vars.staging"), "SECRET=for-staging\n");
    const ports = await freePorts();
    url = ports.url;
    const args = ["dev", "--env", "staging", ...ports.options, "--", "--var", "EXTRA:passed-on"];
    running = sluice(args, lab.folder, lab.env);
    await running.printed(/admin +http/);
  });
  afterAll(async () => {
    await running.stop();
    lab.remove();
  });

  it("gives the handlers the environment, its secrets, and their own this", async () => {
    expect(JSON.parse(await get("/"))).toEqual({
      name: "solo",
      stage: "staging",
      secret: "for-staging",
      extra: "passed-on",
    });
  });

  it("delivers to the Worker that sent, with its modules, alias and define", async () => {
    await get("/send?word=first");
    await eventually(() => get("/done?word=first"), "solo one signed A note. green");
  });

  it("runs scheduled handlers with their own this", async () => {
    await get("/cdn-cgi/handler/scheduled");
    await eventually(() => get("/done?word=scheduled"), "solo ran");
  });

  it("says which of the Worker's flags it changes", () => {
    expect(running.output).toContain(
      'Sluice runs Worker "solo-staging" without its flag "disallow_importable_env"',
    );
  });

  it("ends every process that it started when it is killed", async () => {
    const children = descendants(running.pid);
    await running.stop("SIGKILL");
    await eventually(async () => children.filter(isRunning), []);
  });
});

/** Static assets alone on the port; behind them modules that are not bundled, and one without a default export. */
describe("sluice dev with Workers of less usual shapes", { tags: "slow" }, () => {
  let lab: Lab;
  let site: Running;
  let others: Running;
  let siteUrl: string;
  let gateUrl: string;
  const get = async (url: string) => (await fetch(url)).text();

  beforeAll(async () => {
    lab = openLab("odd");
    const start = async (...targets: string[]) => {
      const { options, url } = await freePorts();
      return { running: sluice(["dev", ...targets, ...options], lab.folder, lab.env), url };
    };
    ({ running: site, url: siteUrl } = await start("site"));
    await site.printed(/admin +http/);
    ({ running: others, url: gateUrl } = await start("gate", "named", "plain"));
    await others.printed(/admin +http/);
  });
  afterAll(async () => {
    await Promise.all([site.stop(), others.stop()]);
    lab.remove();
  });

  it("serves static assets as Wrangler does, and its own paths beside them", async () => {
    expect(await get(`${siteUrl}/`)).toContain("Home");
    expect(await get(`${siteUrl}/nowhere`)).toContain("Not here");
    expect((await fetch(`${siteUrl}/nowhere`)).status).toBe(404);
    expect(await navigate(`${siteUrl}/__sluice/`)).toContain("<title>Sluice");
  });

  it("sends from an entrypoint of a module without a default export", async () => {
    expect(await get(`${gateUrl}/note?1`)).toBe("1");
  });

  it("runs modules that are not bundled, at a compatibility date without RPC and with v8 messages", async () => {
    expect(await get(`${gateUrl}/plain?word=go`)).toBe("sent");
    await eventually(() => get(`${gateUrl}/plain?word=go`), "GO!");
  });
});

/** An environment of both Workers with queues of its own. */
it("sluice dev --env with several Workers delivers what one of them sends to the other", {
  tags: "slow",
}, async () => {
  const lab = openLab("staged");
  const { options, url } = await freePorts();
  const running = sluice(["dev", "sender", "receiver", "--env", "x", ...options], lab.folder, lab.env);
  try {
    await running.printed(/admin +http/);
    expect(running.output).toMatch(/jobs-x +sender-x \(JOBS\) +receiver-x/);
    expect(await (await fetch(`${url}/?1`)).text()).toBe("sent");
    await running.printed(/got \?1 on jobs-x/);
    await running.printed(/\[sluice-x\] QUEUE jobs-x 1\/1/);
  } finally {
    await running.stop();
    lab.remove();
  }
});

/** A consumer that was away is asked again after 30 s at most; a busy machine takes as long to start one. */
const MEETING_MS_MAX = 90_000;

/** The same Workers in two terminals: the senders in one, the receiver in the other. */
// conformance: several-processes
describe("two sluice dev of different Workers", { timeout: 300_000 }, () => {
  let lab: Lab;
  let sending: Running;
  let receiving: Running;
  let url: string;
  const get = async (path: string) => (await fetch(url + path)).text();
  const start = async (targets: string[], passedOn: string[] = []) => {
    const { options, url } = await freePorts();
    return { running: sluice(["dev", ...targets, ...options, ...passedOn], lab.folder, lab.env), url };
  };

  beforeAll(() => {
    lab = openLab("shop");
  });
  afterAll(async () => {
    await Promise.all([sending.stop(), receiving.stop()]);
    lab.remove();
  });

  it("deliver messages to the receiver that were sent before it came", async () => {
    writeFileSync(join(lab.folder, "front/.env.mine"), "SECRET=from-env-file\n");
    const passedOn = ["--", "--env-file", ".env.mine"];
    ({ running: sending, url } = await start(["front", "objects"], passedOn));
    await sending.printed(/admin +http/);
    // Wrangler looks for the file beside each Worker's configuration.
    expect(JSON.parse(await get("/env"))).toMatchObject({ secret: "from-env-file" });
    expect(await get("/send/class?text=early")).toBe("sent");

    ({ running: receiving } = await start(["mailer"]));
    await sending.printed(/mails +front \(MAILS\), objects \(MAILS\) +mailer \(elsewhere\)/);
    await expect.poll(() => get("/received"), { timeout: MEETING_MS_MAX }).toBe('["early"]');
    expect(await get("/send/object?text=late")).toBe("sent");
    await expect.poll(() => get("/received"), { timeout: MEETING_MS_MAX }).toBe('["early","late"]');
    // Both deliveries are recorded: the next line of this kind is about another message.
    await sending.printed(/QUEUE mails 1\/1.*QUEUE mails 1\/1/s);
    expect(sending.output).toMatch(/QUEUE mails 1\/1 acknowledged by mailer elsewhere \(/);
    const folder = join(lab.folder, "mailer");
    expect(sending.output).toContain(
      `Messages of mails go to the Worker "mailer" of ${folder}, which another`,
    );
    expect(receiving.output).not.toContain("go to the Worker");
    // A second one would end the broker while it delivers, and the messages would come twice.
    expect(sending.output.match(/Reloading local server/g)).toHaveLength(1);
  });

  it("keep messages that are sent after the receiver went for the next one", { tags: "slow" }, async () => {
    const parted = sending.output.length;
    await receiving.stop();
    await sending.printed(/mails +front \(MAILS\), objects \(MAILS\) +-/, parted);
    // Wrangler makes a GET again whose Worker it has ended, and the message would be sent twice.
    await sending.printed(/Local server updated and ready/, parted);
    expect(await get("/send/class?text=kept")).toBe("sent");

    ({ running: receiving } = await start(["mailer"]));
    await expect.poll(() => get("/received"), { timeout: MEETING_MS_MAX }).toBe('["early","late","kept"]');
    // Until the delivery is recorded, an end of the sender makes the message come once more.
    await sending.printed(/QUEUE mails 1\/1/, parted);
  });

  it("deliver messages again when the receiver was there first", { tags: "slow" }, async () => {
    await sending.stop();
    ({ running: sending, url } = await start(["front", "objects"]));
    await sending.printed(/admin +http/);
    expect(await get("/send/class?text=again")).toBe("sent");
    await expect
      .poll(() => get("/received"), { timeout: MEETING_MS_MAX })
      .toBe('["early","late","kept","again"]');
  });

  it("end at the same moment, before either has seen the other's end", async () => {
    expect(await Promise.all([sending.stop(), receiving.stop()])).toEqual([130, 130]);
  });
});

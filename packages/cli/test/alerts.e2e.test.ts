import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { AlertsView } from "@sluice/gateway/views";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BrokerLab } from "./broker-lab.ts";

const SECRET = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3";
const off = new BrokerLab();
let lab: BrokerLab;
/** Types of the reports that have come. */
const reports: string[] = [];
let status = 204;
let server: Server;

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += chunk));
    request.on("end", () => {
      if (request.url === "/orders") response.writeHead(500).end();
      else {
        if (status === 204) reports.push(JSON.parse(body).type);
        response.writeHead(status).end();
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  lab = new BrokerLab(`name = "lab"
[sluice.queues.orders.push]
url = "${url}/orders"
max_retries = 0
dead_letter_queue = "dead"
[sluice.alerts]
url = "${url}/hook/secret-path"
`);
  await Promise.all([off.serve(), lab.serve({ SLUICE_ALERTS_SECRET: SECRET })]);
});
afterAll(async () => {
  await Promise.all([off.close(), lab.close()]);
  server.closeAllConnections();
  server.close();
});

it("sluice alerts of a broker without them says where they are set", async () => {
  expect(await off.words(0, ["alerts", "list"])).toContain("[sluice.alerts] in a configuration sets them");
  expect(await off.words(1, ["alerts", "test"])).toContain("its configuration has no [sluice.alerts]");
});

it("sluice alerts without the key say so at the start, and where they are listed", async () => {
  const unkeyed = new BrokerLab('name = "lab"\n[sluice.alerts]\nurl = "http://127.0.0.1:9/hook"\n');
  try {
    await unkeyed.serve();
    const missing = "the environment variable SLUICE_ALERTS_SECRET is not set";
    await unkeyed.printed(new RegExp(`no alert is sent: ${missing}`));
    expect(await unkeyed.words(0, ["alerts", "list"])).toContain(
      `Nothing is sent to http://127.0.0.1:9: ${missing}.`,
    );
  } finally {
    await unkeyed.close();
  }
});

describe("sluice alerts", () => {
  it("tests the webhook, and names neither its path nor the key", async () => {
    const words = await lab.words(0, ["alerts", "test"]);
    expect(words).toMatch(/http:\/\/127\.0\.0\.1:\d+ has taken the test\./);
    expect(reports).toEqual(["alert.test"]);
    const view = JSON.stringify(await lab.json(["alerts", "list"]));
    expect(view + words).not.toMatch(/secret-path|whsec_/);
  });

  it("says why the webhook does not take the test", async () => {
    status = 503;
    expect(await lab.words(1, ["alerts", "test"])).toContain("it answered 503");
    expect(await lab.words(0, ["alerts", "list"])).toMatch(
      /1 report to http:\S+ not taken yet: it answered 503/,
    );
    status = 204;
  });

  it("lists what is on, which queues info says too, and a silenced queue until its end", async () => {
    expect(await lab.words(0, ["alerts", "silence", "dead", "--for", "1h"])).toMatch(
      /The webhook is told of nothing that begins or ends in dead until 20\S+Z\./,
    );
    expect(await lab.run(["messages", "send", "orders", "--body", "1"])).toMatchObject({ code: 0 });
    await expect
      .poll(async () => (await lab.run(["alerts", "list"])).out)
      .toMatch(
        /^dead +dead_letters +20\S+Z +the first dead letter has come, from queue "orders" +no, silent until 20/m,
      );
    const info = (await lab.run(["queues", "info", "dead"])).out;
    expect(info).toContain("the first dead letter has come");
    expect(info).toMatch(/^alerts +silent until 20\S+Z$/m);
    expect((await lab.run(["queues", "list"])).out).toMatch(/^dead .*alerts silent until 20\S+Z$/m);
    expect(reports).not.toContain("alert.begun");

    status = 500;
    await lab.words(0, ["alerts", "silence", "dead", "--off"]);
    await expect
      .poll(async () => (await lab.run(["alerts", "list"])).out)
      .toMatch(/^dead +dead_letters .* {2}no, it answered 500$/m);
    status = 204;
    await expect.poll(() => reports).toContain("alert.begun");
    await lab.run(["queues", "purge", "dead", "--force"]);
    await expect.poll(() => reports).toContain("alert.ended");
    expect((await lab.json<AlertsView>(["alerts", "list"])).alerts).toEqual([]);
  });

  it.each([
    [["--until", "2020-01-01T00:00:00Z"], "That time is over."],
    [["--until", "tomorrow"], "It is a time with its zone"],
    [["--for", "31d"], "30d long at most"],
    [["--for", "1h", "--off"], "Name one of"],
  ])("refuses a silence with %j", async (args, why) => {
    expect(await lab.run(["alerts", "silence", "dead", ...args])).toMatchObject({
      ...{ code: 2, out: "" },
      err: expect.stringContaining(why),
    });
  });

  it("knows no queue that there is not", async () => {
    expect(await lab.run(["alerts", "silence", "nowhere"])).toMatchObject({ code: 4, out: "" });
  });
});

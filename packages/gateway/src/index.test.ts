import { describe, expect, it } from "vitest";
import { directoryOf, OPEN } from "../test/directory.ts";
import { createGateway, PREFIX } from "./index.ts";

const ORIGIN = "http://localhost:8787";

function get(path: string, method = "GET"): Promise<Response> {
  return Promise.resolve(createGateway(directoryOf(), OPEN).request(`${ORIGIN}${path}`, { method }));
}

describe("the gateway", () => {
  it("has everything under one prefix, so that it can share a port with a user's Worker", () => {
    expect(PREFIX).toBe("/__sluice");
  });

  it("says that it runs and how many queues there are", async () => {
    const response = await get("/__sluice/health");
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ status: "ok", queues: 2 });
  });

  it("says that it fails when nobody knows which queues there are", async () => {
    const directory = directoryOf();
    const account = { ...directory.account, list: () => Promise.reject(new Error("gone")) };
    const response = await createGateway({ ...directory, account }, OPEN).request(
      `${ORIGIN}/__sluice/health`,
    );
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({
      status: "failing",
      error: "the directory does not answer: Error: gone",
    });
  });

  it("shows the page of queues, also without the slash at its end", async () => {
    const page = await get("/__sluice/");
    expect(page.status).toBe(200);
    expect(page.headers.get("content-type")).toContain("text/html");
    expect(await page.text()).toContain("/__sluice/api/queues");
    const redirect = await get("/__sluice");
    expect(redirect.status).toBe(302);
    expect(redirect.headers.get("location")).toBe("/__sluice/");
  });

  it.each([
    ["GET", "/"],
    ["GET", "/__sluice/nothing"],
    ["GET", "/__sluice/api/nothing"],
    ["POST", "/__sluice/api/queues"],
    ["GET", "/__sluice/api/clock"],
    ["DELETE", "/__sluice/api/queues/orders"],
  ])("answers 404 to %s %s", async (method, path) => {
    const response = await get(path, method);
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({
      error: { code: "no_route", message: `Nothing answers ${method} ${path}.` },
    });
  });
});

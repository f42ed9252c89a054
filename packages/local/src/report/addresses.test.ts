import { generate } from "@sluice/project/test/generated";
import { projectFolder } from "@sluice/project/test/project-folder";
import { describe, expect, it } from "vitest";
import { addresses, awsLines, urlOf } from "./addresses.ts";

async function projectOf(config: object) {
  const folder = projectFolder({
    "wrangler.json": JSON.stringify({ name: "api", main: "index.js", ...config }),
    "index.js": "export default {};",
  });
  return (await generate(folder, { purpose: "dev" })).project;
}

describe("urlOf", () => {
  it.each([
    ["localhost", "http://localhost:8787"],
    ["127.0.0.1", "http://127.0.0.1:8787"],
    ["0.0.0.0", "http://localhost:8787"],
    ["*", "http://localhost:8787"],
    ["::", "http://localhost:8787"],
    ["::1", "http://[::1]:8787"],
  ])("of %s is one that a browser can open: %s", async (host, expected) => {
    expect(urlOf({ host, port: 8787 }, await projectOf({}), [])).toBe(expected);
  });

  it("is https where the primary Worker says so", async () => {
    const project = await projectOf({ dev: { local_protocol: "https" } });
    expect(urlOf({ host: "localhost", port: 1 }, project, [])).toBe("https://localhost:1");
  });

  it.each([
    [["--local-protocol", "https"], "https"],
    [["--x", "--local-protocol=https"], "https"],
    [["--local-protocol=https", "--local-protocol", "http"], "http"],
    [["--local-protocolx", "https"], "http"],
  ])("with the arguments %j is %s", async (args, protocol) => {
    expect(urlOf({ host: "localhost", port: 1 }, await projectOf({}), args)).toBe(
      `${protocol}://localhost:1`,
    );
  });
});

describe("addresses", () => {
  it("names the primary Worker, the page of the queues, the admin API and the endpoint for AWS's clients", async () => {
    expect(addresses("http://localhost:8787", await projectOf({}))).toBe(
      "api     http://localhost:8787/\nqueues  http://localhost:8787/__sluice/\nadmin   " +
        "http://localhost:8787/__sluice/api/\n" +
        "aws     http://localhost:8787/__sluice/aws",
    );
  });

  it("stand below each other however long the Worker's name is, the folder of the data among them", async () => {
    const project = await projectOf({ name: "shop-producer" });
    expect(addresses("http://localhost:8787", project, "/data").split("\n")).toEqual([
      "shop-producer  http://localhost:8787/",
      "queues         http://localhost:8787/__sluice/",
      "admin          http://localhost:8787/__sluice/api/",
      "aws            http://localhost:8787/__sluice/aws",
      "data           /data",
    ]);
  });
});

describe("the lines for a shell", () => {
  it("lead AWS's SDKs here, with any credentials", () => {
    expect(awsLines("http://127.0.0.1:9324", {})).toBe(
      "export AWS_ENDPOINT_URL_SQS=http://127.0.0.1:9324/__sluice/aws\n" +
        "export AWS_ENDPOINT_URL_SNS=http://127.0.0.1:9324/__sluice/aws\n" +
        "export AWS_REGION=us-east-1 AWS_DEFAULT_REGION=us-east-1\n" +
        "export AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local",
    );
  });

  it("name the broker's region, and leave keys that it asks for to the reader", () => {
    const variables = { SLUICE_AWS_ACCESS_KEYS: "AKIA:secret", SLUICE_AWS_REGION: "eu-west-1" };
    const lines = awsLines("http://127.0.0.1:9324", variables);
    expect(lines).toContain("AWS_REGION=eu-west-1 AWS_DEFAULT_REGION=eu-west-1");
    expect(lines).toContain("AWS_ACCESS_KEY_ID=KEY AWS_SECRET_ACCESS_KEY=SECRET");
    expect(lines).not.toContain("secret");
  });
});

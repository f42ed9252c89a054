import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { refusePortInUse } from "./port-in-use.ts";

async function listening(host: string): Promise<number> {
  const server = createServer().listen(0, host);
  onTestFinished(() => void server.close());
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

it.each(["127.0.0.1", "localhost"])(
  "a port that is in use on %s is refused, with the option",
  async (host) => {
    const port = await listening("127.0.0.1");
    await expect(refusePortInUse({ host, port, option: "--port" })).rejects.toThrow(
      `Port ${port} of ${host} is in use by another process. End that one, or choose another port with --port.`,
    );
  },
);

it("a free port, one that the system is to choose and a host that is not found are not", async () => {
  const port = await listening("127.0.0.1");
  await refusePortInUse({ host: "127.0.0.1", port: 0, option: "--port" });
  await refusePortInUse({ host: "nowhere.invalid", port, option: "--port" });
  await refusePortInUse({ host: "203.0.113.1", port, option: "--port" });
});

import { expect, it } from "vitest";
import { CONSUMER_SETTINGS } from "../../test/definitions.ts";
import { FORMAT, type Register, readRegister, registerVariables } from "./register.ts";

function registerOf(queues: number): Register {
  const consumers = Array.from({ length: queues }, (_, i) => ({
    queue: `constructor-${i}`,
    type: "worker" as const,
    settings: CONSUMER_SETTINGS,
  }));
  const push = { constructor: { deliveryDelaySeconds: queues } };
  return {
    format: FORMAT,
    by: "@shop/all",
    projects: {
      "@shop/all": {
        shares: true,
        workers: { constructor: { producers: [], consumers, queueSettings: push } },
      },
      "Läden \u{1f4e6}": { shares: false, workers: {} },
    },
  };
}

const bindingsOf = (variables: Readonly<Record<string, string>>) =>
  Object.entries(variables).map(([name, text]) => ({ name, type: "plain_text", text }));

it.each([0, 1, 20, 300])(
  "a register of %i consumers is read back from variables that Cloudflare accepts",
  (queues) => {
    const register = registerOf(queues);
    const variables = registerVariables(register);
    for (const text of Object.values(variables)) expect(Buffer.byteLength(text)).toBeLessThanOrEqual(5_000);
    expect(readRegister("sluice", bindingsOf(variables).reverse())).toEqual(register);
  },
);

it("variables of an earlier, longer register do not count", () => {
  const variables = { ...registerVariables(registerOf(300)), ...registerVariables(registerOf(1)) };
  expect(readRegister("sluice", bindingsOf(variables))).toEqual(registerOf(1));
});

it("a version without variables of ours has no register", () => {
  expect(
    readRegister("sluice", [
      { name: "A", type: "plain_text", text: "1" },
      { name: "B", type: "service" },
    ]),
  ).toBeNull();
});

it("a register that is damaged, or of a later release, is refused with an explanation", () => {
  const variables = registerVariables(registerOf(30));
  const { SLUICE_SERVES_1: _, ...without } = variables;
  expect(() => readRegister("sluice", bindingsOf(without))).toThrow(
    'variables SLUICE_SERVES of "sluice" are damaged',
  );
  const later = { ...registerOf(1), format: 2 } as unknown as Register;
  expect(() => readRegister("sluice", bindingsOf(registerVariables(later)))).toThrow("Update it.");
});

import { endpointVariables, OWN_VARIABLE_PREFIX, type QueueTopology } from "@sluice/protocol";

/** An environment variable that an endpoint's settings ask for: its value, or why there is none for that endpoint. */
export type EndpointVariable = { readonly value: string } | { readonly refusal: string };

/** Looks a variable up by its name, for the endpoint at a URL. */
export type EndpointVariables = (name: string, url: string) => EndpointVariable;

/**
 * The environment variables of a broker as its HTTP endpoints see them. An endpoint gets those that the deployed
 * configuration asks for at its origin. Its settings may come from elsewhere, from a backup for instance: who can write
 * them must not be able to have secrets sent to where he likes.
 *
 * @param env variables and secrets of the broker.
 * @param topology that the broker was deployed with.
 */
export function endpointVariablesOf(
  env: Readonly<Record<string, unknown>>,
  topology: QueueTopology,
): EndpointVariables {
  return (name, url) => {
    if (name.startsWith(OWN_VARIABLE_PREFIX)) {
      return { refusal: `the variable ${name} is the broker's own, and is sent to nobody` };
    }
    if (!endpointVariables(topology, url).includes(name)) {
      return { refusal: `no configuration names the environment variable ${name} for an endpoint there` };
    }
    const value = env[name];
    if (typeof value === "string") return { value };
    return { refusal: `the environment variable ${name} is not set` };
  };
}

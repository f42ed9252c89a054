import {
  ALERTS_SECRET,
  alertsUrlOf,
  endpointVariables,
  OWN_VARIABLE_PREFIX,
  type QueueTopology,
} from "@sluice/protocol";

/** Environment variable for an endpoint: its value, or why the endpoint does not get one. */
export type EndpointVariable = { readonly value: string } | { readonly refusal: string };

/** Looks a variable up by its name, for the endpoint at a URL. */
export type EndpointVariables = (name: string, url: string) => EndpointVariable;

/**
 * Selects the environment variables of a broker that HTTP endpoints get: those that the deployed configuration names
 * for their origin. Settings may have another source, such as a backup, which must not be able to send secrets
 * anywhere.
 *
 * @param env variables and secrets of the broker.
 * @param topology that the broker was deployed with.
 */
export function endpointVariablesOf(
  env: Readonly<Record<string, unknown>>,
  topology: QueueTopology,
): EndpointVariables {
  const alertsUrl = alertsUrlOf(env, topology);
  return (name, url) => {
    if (name === ALERTS_SECRET && url === alertsUrl) return variableIn(env, name);
    if (name.startsWith(OWN_VARIABLE_PREFIX)) {
      return { refusal: `the variable ${name} is the broker's own, and is never sent` };
    }
    if (!endpointVariables(topology, url).includes(name)) {
      return { refusal: `no configuration names the environment variable ${name} for an endpoint there` };
    }
    return variableIn(env, name);
  };
}

function variableIn(env: Readonly<Record<string, unknown>>, name: string): EndpointVariable {
  const value = env[name];
  if (typeof value === "string") return { value };
  return { refusal: `the environment variable ${name} is not set` };
}

/** Is named as a consumer and has no `queue` handler. */
export default { fetch: () => Response.json([]) } satisfies ExportedHandler;

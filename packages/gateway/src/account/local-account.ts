/** Id of the one account of this broker, as Cloudflare's API and its events show it. */
export const LOCAL_ACCOUNT_ID = "5100ce00000000000000000000000001";

import { configInvalid } from '../errors/create-config.ts';

/** Address of a server. `url` may hold credentials: never print it. */
export interface ServerUrl {
  readonly url: string;
  /** `host:port`, safe to print. */
  readonly shown: string;
}

/**
 * A URL, or a list of them, as an option.
 *
 * @param ports - Default port by scheme, which are the schemes taken: `{ nats: 4222 }`.
 * @param change - Last word on each URL.
 * @throws MSG_CONFIG_INVALID none given, another scheme, no host; without anything of the URL.
 */
export function readServerUrls(
  option: string,
  given: unknown,
  ports: Readonly<Record<string, number>>,
  change: (url: URL) => void = () => {},
): readonly ServerUrl[] {
  const list: readonly unknown[] = Array.isArray(given) ? given : [given];
  const forms = Object.keys(ports).map((scheme) => `${scheme}://`);
  if (list.length === 0 || given === undefined) {
    throw configInvalid({
      option,
      value: given,
      expected: `${forms[0]}user:password@host:${Object.values(ports)[0]}, or a list of such URLs`,
      fix: 'The url is missing.',
    });
  }
  return list.map((text, at) => {
    const url = typeof text === 'string' && URL.canParse(text) ? new URL(text) : undefined;
    const port = url && ports[url.protocol.slice(0, -1)];
    if (!url?.hostname || port === undefined) {
      throw configInvalid({
        option,
        // Not shown: a URL that does not parse may still hold a password.
        value: `not shown (number ${at + 1})`,
        expected: `a URL with a host that begins with ${forms.join(' or ')}`,
        fix: 'Percent-encode special characters of user and password.',
      });
    }
    change(url);
    return Object.freeze({ url: url.href, shown: `${url.hostname}:${url.port || port}` });
  });
}

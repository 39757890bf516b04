/** What a server said, without the key that we sent: a hostile or careless one echoes it, and errors end up in logs. */

/** Shorter ones are placeholders, and parts of many words. */
const shortestKey = 8;

export function withoutKey(text: string, key: string | undefined): string {
  if (key === undefined || key.length < shortestKey) return text;
  const forms = [key, JSON.stringify(key).slice(1, -1), encodeURIComponent(key), base64(key)];
  return forms.reduce((rest, form) => rest.replaceAll(form, '(key)'), text);
}

/** Without its last characters, which depend on what follows. */
const base64 = (key: string): string => Buffer.from(key).toString('base64').replace(/.?=*$/, '');

/** Requests to the server that this page came from. The key comes in the address, once, and is kept for this tab. */

import type { Problem } from '../../shapes.ts';
import { bundledAnswer, bundleStart } from './bundle.ts';

const stored = 'turnwise-view-token';

/** Take the key out of the address, so that it ends in no history and no copied link. */
function takeToken(): string {
  if (bundleStart !== undefined) return '';
  const given = new URLSearchParams(location.hash.slice(1)).get('token');
  if (given === null) return sessionStorage.getItem(stored) ?? '';
  sessionStorage.setItem(stored, given);
  history.replaceState(history.state, '', location.pathname + location.search);
  return given;
}

const token = takeToken();

/** For a link that is opened in another tab, which shares nothing with this one. */
export const tokenFragment = bundleStart === undefined ? `#token=${token}` : '';

/** What the server says is wrong, in its words. */
export class Refusal extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.message);
    this.problem = problem;
  }
}

export function request(path: string, init: RequestInit = {}): Promise<Response> {
  if (bundleStart !== undefined) return bundledAnswer(path, init);
  const headers = { ...(init.headers as Record<string, string>), authorization: `Bearer ${token}` };
  return fetch(path, { ...init, headers });
}

/** @throws Refusal */
export async function ask(path: string, init: RequestInit = {}): Promise<Response> {
  let response: Response;
  try {
    response = await request(path, init);
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new Refusal({
      code: 'server-gone',
      message: 'The viewer does not answer. Start it again with: turnwise view',
    });
  }
  if (response.ok) return response;
  const body = (await response.json().catch(() => undefined)) as { readonly error?: Problem } | undefined;
  throw new Refusal(
    body?.error ?? { code: `http-${response.status}`, message: `The viewer answered ${response.status}.` },
  );
}

export async function askJson<T>(path: string, signal?: AbortSignal): Promise<T> {
  const response = await ask(path, signal ? { signal } : {});
  return (await response.json()) as T;
}

export async function postJson<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  const response = await ask(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });
  return (await response.json()) as T;
}

/** Address of something about a run. */
export function runPath(run: string, rest = ''): string {
  return `/api/runs/${encodeURIComponent(run)}${rest}`;
}

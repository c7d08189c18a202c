import { expect } from 'vitest';

/** Posts to the ingestion endpoints of a service with an application's key, and expects success. */
export const ingestAt =
  (url: string, apiKey: string) =>
  async (route: string, body: unknown): Promise<unknown> => {
    const answer = await fetch(url + route, {
      method: 'POST',
      headers: { 'service-api-key': apiKey, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(200);
    return answer.json();
  };

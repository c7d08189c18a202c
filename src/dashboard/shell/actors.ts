import type { Database } from '#db';
import { listAccessTokens } from '#teams';

/** Names who did something: an access token by its name. One that ended long ago is no longer listed, and is shown by its id. */
export async function readActorNames(db: Database, teamId: string): Promise<(actor: string) => string> {
  const names = new Map((await listAccessTokens(db, teamId)).map(({ id, name }) => [id, name]));
  return (actor) => {
    const name = names.get(actor.replace(/^access token /, ''));
    return name === undefined ? actor : `Access token “${name}”`;
  };
}
